#include <stdlib.h>

/* Tests keep hundreds of ledgers open if all of them run at once, and each ledger reserves 1.8 TiB of addresses, of which a process has 128. However
 * the tests are started, four run at a time; who sets the number is not overruled. It is read before any Swift of ours runs. */
__attribute__((constructor)) static void limit_tests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "4", 0);
}
