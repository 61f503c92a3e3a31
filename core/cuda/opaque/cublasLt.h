#pragma once
typedef struct cublasLtContext* cublasLtHandle_t;  // cublas_v2.h beside this says why
