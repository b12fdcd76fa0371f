#pragma once
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/params.h>
/* OPENSSL_SUPPRESS_DEPRECATED is for this one: its contexts are plain values, without a lookup for each of millions of short messages. */
#include <openssl/sha.h>
