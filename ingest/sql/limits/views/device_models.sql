-- Models of devices and their peaks, according to the vendors' documents. `device_limits` says of
-- which model a device of a run is. All peaks are dense: where a vendor prints figures with
-- sparsity, half of them. To add a model, add a row.
-- One row: a model of a device as profilers report it: one half of an MI250, one die of an Ascend
-- 910C.
--
-- model            short name
-- name_pattern     RE2 expression that matches a part of the recorded name
-- is_also_unnamed  whether such devices are also recorded without a name, or as `AMD Radeon
--                  Graphics`: then only the next two columns tell the model
-- multiprocessors  SMs or compute units, as the device reports them; null if it reports none
-- memory_gb        memory as the device reports it, 10⁹ bytes: some drivers reserve a part
-- clock_mhz        highest clock, for which the vector peaks hold; null if unpublished. The matrix
--                  peaks of H100, H200, B200 and GB200 hold for a lower one
-- tb_per_s         memory bandwidth, 10¹² bytes per second
-- float64_matrix   peak in float64 of tensor cores or matrix cores, 10¹² operations per second, as
--                  all peaks; null, in all peaks, if the hardware has none or none is published
-- float64          peak in float64 of the vector units
-- float32          peak in float32 of the vector units
-- tf32             peak in TF32 of tensor cores or matrix cores
-- float16          peak in float16 of tensor cores or matrix cores, with sums in float32
-- bfloat16         peak in bfloat16 of tensor cores or matrix cores, with sums in float32
-- float8           peak in float8 of tensor cores or matrix cores, with sums in float32
-- int8             peak in int8 of tensor cores or matrix cores
-- float4           peak in float4 of tensor cores or matrix cores
-- source           the vendor's document
SELECT
    model,
    name_pattern,
    is_also_unnamed,
    multiprocessors::INTEGER AS multiprocessors,
    memory_gb::DOUBLE AS memory_gb,
    clock_mhz::INTEGER AS clock_mhz,
    COLUMNS([
        'tb_per_s', 'float64_matrix', 'float64', 'float32', 'tf32', 'float16', 'bfloat16', 'float8',
        'int8', 'float4'
    ])::DOUBLE,
    source
FROM (
    VALUES
    -- Hopper
    (
        'H100 SXM', '\bH100 80GB HBM3$', 132, 85.0, 1980, 3.35,
        66.9, 33.5, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9, NULL,
        'NVIDIA H100 Tensor Core GPU Architecture, https://resources.nvidia.com/en-us-tensor-core',
        FALSE
    ),
    (
        'H100 PCIe', '\bH100 PCIe$', 114, 85.0, 1755, 2.0,
        51.2, 25.6, 51.2, 378, 756, 756, 1513, 1513, NULL,
        'NVIDIA H100 Tensor Core GPU Architecture, https://resources.nvidia.com/en-us-tensor-core',
        FALSE
    ),
    (
        'H100 NVL', '\bH100 NVL$', 132, 100.0, 1785, 3.9,
        60, 30, 60, 417.5, 835.5, 835.5, 1670.5, 1670.5, NULL,
        'NVIDIA H100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/h100/',
        FALSE
    ),
    (
        'H200 SXM', '\bH200$', 132, 150.1, 1980, 4.8,
        66.9, 33.5, 66.9, 494.7, 989.4, 989.4, 1978.9, 1978.9, NULL,
        'NVIDIA H200 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/h200/',
        FALSE
    ),
    (
        'H200 NVL', '\bH200 NVL$', 132, 150.1, 1785, 4.8,
        60, 30, 60, 417.5, 835.5, 835.5, 1670.5, 1670.5, NULL,
        'NVIDIA H200 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/h200/',
        FALSE
    ),
    -- Blackwell
    (
        'B200', '\bB200$', 148, 191.5, 1965, 7.7,
        37, 37, 75, 1125, 2250, 2250, 4500, 4500, 9000,
        'NVIDIA Blackwell datasheet, HGX B200, '
        || 'https://nvdam.widen.net/s/wwnsxrhm2w/blackwell-datasheet-3384703',
        FALSE
    ),
    (
        'GB200', '\bGB200$', 152, 197.9, 2062, 8.0,
        40, 40, 80, 1250, 2500, 2500, 5000, 5000, 10000,
        'NVIDIA Blackwell datasheet, GB200 NVL72, '
        || 'https://nvdam.widen.net/s/wwnsxrhm2w/blackwell-datasheet-3384703',
        FALSE
    ),
    -- Ampere
    (
        'A100 40GB SXM', '\b(A100-SXM4?-40GB|A100-PG509-200)$', 108, 42.4, 1410, 1.555,
        19.5, 9.7, 19.5, 156, 312, 312, NULL, 624, NULL,
        'NVIDIA A100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/a100/',
        FALSE
    ),
    (
        'A100 40GB PCIe', '\bA100-PCIE-40GB$', 108, 42.4, 1410, 1.555,
        19.5, 9.7, 19.5, 156, 312, 312, NULL, 624, NULL,
        'NVIDIA A100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/a100/',
        FALSE
    ),
    (
        'A100 80GB SXM', '\b(A100-SXM4?-80GB|PG509-210)$', 108, 85.1, 1410, 2.039,
        19.5, 9.7, 19.5, 156, 312, 312, NULL, 624, NULL,
        'NVIDIA A100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/a100/',
        FALSE
    ),
    (
        'A100 80GB PCIe', '\bA100 80GB PCIe$', 108, 85.1, 1410, 1.935,
        19.5, 9.7, 19.5, 156, 312, 312, NULL, 624, NULL,
        'NVIDIA A100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/a100/',
        FALSE
    ),
    (
        'A10', '\bA10$', 72, 23.7, 1695, 0.6,
        NULL, 0.49, 31.2, 62.5, 125, 125, NULL, 250, NULL,
        'NVIDIA A10 datasheet, https://www.nvidia.com/en-us/data-center/products/a10-gpu/',
        FALSE
    ),
    (
        'A10G', '\bA10G$', 80, 23.8, 1710, 0.6,
        NULL, 0.55, 35, 35, 70, 70, NULL, 140, NULL,
        'NVIDIA A10G datasheet for Amazon EC2 G5, https://aws.amazon.com/ec2/instance-types/g5/',
        FALSE
    ),
    (
        'RTX 3090', '\bGeForce RTX 3090$', 82, 25.4, 1695, 0.936,
        NULL, 0.56, 35.6, 35.6, 71, 71, NULL, 284, NULL,
        'NVIDIA Ampere GA102 GPU Architecture, https://www.nvidia.com/content/PDF/'
        || 'nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.1.pdf',
        FALSE
    ),
    -- Volta and Turing
    (
        'V100 SXM2 16GB', '\bV100-SXM2-16GB$', 80, 16.9, 1530, 0.9,
        NULL, 7.8, 15.7, NULL, 125, NULL, NULL, NULL, NULL,
        'NVIDIA V100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/v100/',
        FALSE
    ),
    (
        'V100 SXM2 32GB', '\bV100-SXM2-32GB$', 80, 34.1, 1530, 0.9,
        NULL, 7.8, 15.7, NULL, 125, NULL, NULL, NULL, NULL,
        'NVIDIA V100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/v100/',
        FALSE
    ),
    (
        'V100 DGXS 32GB', '\bV100-DGXS-32GB$', 80, 34.1, 1530, 0.9,
        NULL, 7.8, 15.7, NULL, 125, NULL, NULL, NULL, NULL,
        'NVIDIA DGX Station datasheet: 500 in float16 for four; the rest as V100 SXM2',
        FALSE
    ),
    (
        'V100 PCIe 16GB', '\bV100-PCIE-16GB$', 80, 16.9, 1380, 0.9,
        NULL, 7, 14, NULL, 112, NULL, NULL, NULL, NULL,
        'NVIDIA V100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/v100/',
        FALSE
    ),
    (
        'V100 PCIe 32GB', '\bV100-PCIE-32GB$', 80, 34.1, 1380, 0.9,
        NULL, 7, 14, NULL, 112, NULL, NULL, NULL, NULL,
        'NVIDIA V100 Tensor Core GPU datasheet, https://www.nvidia.com/en-us/data-center/v100/',
        FALSE
    ),
    (
        'T4', '\bT4$', 40, 15.8, 1590, 0.32,
        NULL, 0.25, 8.1, NULL, 65, NULL, NULL, 130, NULL,
        'NVIDIA T4 datasheet, https://www.nvidia.com/en-us/data-center/tesla-t4/',
        FALSE
    ),
    -- Ada
    (
        'L4', '\bL4$', 58, 23.7, 2040, 0.3,
        NULL, 0.47, 30.3, 60, 121, 121, 242.5, 242.5, NULL,
        'NVIDIA L4 datasheet, https://www.nvidia.com/en-us/data-center/l4/',
        FALSE
    ),
    (
        'L40S', '\bL40S$', 142, 47.8, 2520, 0.864,
        NULL, 1.43, 91.6, 183, 362.05, 362.05, 733, 733, NULL,
        'NVIDIA L40S datasheet, https://www.nvidia.com/en-us/data-center/l40s/',
        FALSE
    ),
    (
        'RTX 4090', '\bGeForce RTX 4090$', 128, 25.4, 2520, 1.008,
        NULL, 1.29, 82.6, 82.6, 165.2, 165.2, 330.3, 660.6, NULL,
        'NVIDIA Ada GPU Architecture, https://images.nvidia.com/aem-dam/Solutions/geforce/ada/'
        || 'nvidia-ada-gpu-architecture.pdf',
        FALSE
    ),
    -- Blackwell, GeForce
    (
        'RTX 5090', '\bGeForce RTX 5090$', 170, 33.7, 2407, 1.792,
        NULL, 1.64, 104.8, 104.8, 209.5, 209.5, 419, 838, 1676,
        'NVIDIA RTX Blackwell GPU Architecture, https://images.nvidia.com/aem-dam/Solutions/'
        || 'geforce/blackwell/nvidia-rtx-blackwell-gpu-architecture.pdf',
        FALSE
    ),
    -- AMD
    (
        'MI210', '\bMI210\b', 104, 68.7, 1700, 1.638,
        45.3, 22.6, 22.6, NULL, 181, 181, NULL, 181, NULL,
        'AMD Instinct MI210, '
        || 'https://www.amd.com/en/products/accelerators/instinct/mi200/mi210.html',
        TRUE
    ),
    (
        'MI250 (one half)', '\bMI250\b', 104, 68.7, 1700, 1.638,
        45.25, 22.65, 22.65, NULL, 181.05, 181.05, NULL, 181.05, NULL,
        'AMD Instinct MI250, halved, '
        || 'https://www.amd.com/en/products/accelerators/instinct/mi200/mi250.html',
        TRUE
    ),
    (
        'MI250X (one half)', '\bMI250X\b', 110, 68.7, 1700, 1.638,
        47.85, 23.95, 23.95, NULL, 191.5, 191.5, NULL, 191.5, NULL,
        'AMD Instinct MI250X, halved, '
        || 'https://www.amd.com/en/products/accelerators/instinct/mi200/mi250x.html',
        TRUE
    ),
    (
        'MI300X', '\bMI300X\b', 304, 206.1, 2100, 5.3,
        163.4, 81.7, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9, NULL,
        'AMD Instinct MI300X, '
        || 'https://www.amd.com/en/products/accelerators/instinct/mi300/mi300x.html',
        TRUE
    ),
    (
        'MI325X', '\bMI325X\b', 304, 274.9, 2100, 6.0,
        163.4, 81.7, 163.4, 653.7, 1307.4, 1307.4, 2614.9, 2614.9, NULL,
        'AMD Instinct MI325X, '
        || 'https://www.amd.com/en/products/accelerators/instinct/mi300/mi325x.html',
        TRUE
    ),
    (
        'MI350X', '\bMI350X\b', 256, 309.2, 2200, 8.0,
        72.1, 72.1, 144.2, NULL, 2306.9, 2306.9, 4613.7, 4613.7, 9227.5,
        'AMD Instinct MI350X, '
        || 'https://www.amd.com/en/products/accelerators/instinct/mi350/mi350x.html',
        TRUE
    ),
    (
        'MI355X', '\bMI355X\b', 256, 309.2, 2400, 8.0,
        78.6, 78.6, 157.3, NULL, 2516.6, 2516.6, 5033.2, 5033.2, 10066.3,
        'AMD Instinct MI355X, '
        || 'https://www.amd.com/en/products/accelerators/instinct/mi350/mi355x.html',
        TRUE
    ),
    -- Intel and Huawei
    (
        'Gaudi 2', '(?i)\bGAUDI ?2$|\bHL-225[BCH]?$', NULL, 102.5, NULL, 2.46,
        NULL, NULL, NULL, NULL, NULL, 432, 865, NULL, NULL,
        'Intel Gaudi 3 AI Accelerator White Paper, comparison with Gaudi 2',
        FALSE
    ),
    (
        'Gaudi 3', '(?i)\bGAUDI ?3$|\bHL-(325L?|335|338)$', NULL, 136.7, NULL, 3.67,
        NULL, NULL, NULL, NULL, NULL, 1835, 1835, NULL, NULL,
        'Intel Gaudi 3 AI Accelerator, Hot Chips 2024',
        FALSE
    ),
    (
        'Ascend 910B2', '\bAscend910B2$', NULL, 65.5, NULL, 1.6,
        NULL, NULL, NULL, NULL, 376, 376, NULL, NULL, NULL,
        'Huawei Atlas 800T A2 specifications: 3 PFLOPS in float16 for eight',
        FALSE
    ),
    (
        'Ascend 910B3', '\bAscend910B3$', NULL, 65.5, NULL, 1.6,
        NULL, NULL, NULL, NULL, 313, 313, NULL, NULL, NULL,
        'Huawei Atlas 800T A2 specifications: 2.5 PFLOPS in float16 for eight',
        FALSE
    ),
    (
        'Ascend 910C (one die)', '\bAscend910_939[12]$', NULL, 65.6, NULL, 1.6,
        NULL, NULL, NULL, NULL, 376, 376, NULL, 752, NULL,
        'Serving LLMs on Huawei CloudMatrix384, https://arxiv.org/abs/2506.12708',
        FALSE
    )
) AS models (
    model, name_pattern, multiprocessors, memory_gb, clock_mhz, tb_per_s, float64_matrix, float64,
    float32, tf32, float16, bfloat16, float8, int8, float4, source, is_also_unnamed
);
