#pragma once
#include <lmdb.h>
#include <malloc.h>
#include <sys/fsuid.h>
#include <sys/vfs.h>
