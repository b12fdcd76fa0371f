// The hashes of the Merkle tree over all records, one after the other on one core: what a full check of a log has to hash, and nothing else.
#define OPENSSL_SUPPRESS_DEPRECATED  // the calls that reuse a context are several times as fast as those that replace them
#include "commands.h"
#include "common.h"

#include <openssl/sha.h>
#include <stdlib.h>
#include <string.h>

enum { HASH_SIZE = SHA256_DIGEST_LENGTH, SALT_SIZE = 16, LEAF_HEADER_SIZE = 32, LEVELS = 64 };

static void hash_leaf(uint8_t *hash, uint64_t index, const uint8_t *salt, struct bytes payload) {
    SHA256_CTX context;
    uint8_t data[1 + LEAF_HEADER_SIZE + HASH_SIZE] = {0};
    store_le64(data + 1, __builtin_bswap64(index + 1));
    store_header(data + 9, index, 0);
    SHA256_Init(&context);
    SHA256_Update(&context, salt, SALT_SIZE);
    SHA256_Update(&context, payload.start, payload.length);
    SHA256_Final(data + 1 + LEAF_HEADER_SIZE, &context);
    SHA256_Init(&context);
    SHA256_Update(&context, data, sizeof data);
    SHA256_Final(hash, &context);
}

static void hash_node(uint8_t *hash, const uint8_t *left, const uint8_t *right) {
    SHA256_CTX context;
    uint8_t prefix = 1;
    SHA256_Init(&context);
    SHA256_Update(&context, &prefix, 1);
    SHA256_Update(&context, left, HASH_SIZE);
    SHA256_Update(&context, right, HASH_SIZE);
    SHA256_Final(hash, &context);
}

void command_merkle(char **arguments, int count) {
    struct input input = input_read(arguments[0]);
    if (count > 1) input_limit(&input, arguments[0], parse_number(arguments[1], "COUNT", 1, SIZE_MAX));
    uint64_t random = 1, nodes = 0;
    uint8_t salts[256][SALT_SIZE], open[LEVELS][HASH_SIZE];
    for (int i = 0; i < 256; i++)
        for (int half = 0; half < 2; half++) store_le64(salts[i] + 8 * half, next_random(&random));

    double started = seconds_now();
    for (size_t i = 0; i < input.count; i++) {
        uint8_t hash[HASH_SIZE];
        hash_leaf(hash, i, salts[i % 256], input.records[i]);
        int level = 0;
        for (; i >> level & 1; level++, nodes++) hash_node(hash, open[level], hash);
        memcpy(open[level], hash, HASH_SIZE);
    }
    double seconds = seconds_now() - started;

    report_start("merkle", input.count, seconds);
    report_number("nodes", nodes);
    report_digest("last", load_le64(open[0]));
    report_end();
    input_free(&input);
}
