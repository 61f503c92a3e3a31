#pragma once
typedef struct cusparseContext* cusparseHandle_t;  // cublas_v2.h beside this says why
typedef enum { CUSPARSE_STATUS_SUCCESS = 0 } cusparseStatus_t;
