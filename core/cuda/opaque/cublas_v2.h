#pragma once
// ATen/cuda's headers name the handles and statuses of four libraries whose headers are in wheels of 1 GB together. Here nothing is called
// of them: their C declarations of these types are all that a compiler needs.
typedef struct cublasContext* cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0 } cublasStatus_t;
