-- `megengine_kind(type)`: the kind of work, as in `work_formulas`, of a type of MegEngine's
-- operators, such as `convolution` for ConvolutionForward; `other` if no kind lists the type.
CREATE MACRO megengine_kind(type) AS CASE
    WHEN regexp_matches(type, '^(Deformable|Batch)?Conv(olution|Bias)') THEN 'convolution'
    WHEN regexp_matches(type, '^(Batched)?MatrixMul|^Dot$') THEN 'product'
    WHEN regexp_matches(type, '^(Batch|Layer|Group|Instance)Norm') THEN 'norm'
    WHEN starts_with(type, 'Softmax') THEN 'softmax'
    WHEN regexp_matches(type, '^(Elemwise|TypeCvt|PowC|Dropout)') THEN 'elementwise'
    WHEN regexp_matches(type, '^(Adaptive)?Pooling|^Reduce|^Arg(max|min)|^Cumsum') THEN 'reduction'
    WHEN regexp_matches(type, '^(Subtensor|Indexing)') THEN 'gather'
    WHEN
        regexp_matches(type, '^(Copy|Host2DeviceCopy|Concat|Split|Dimshuffle|Reshape|Broadcast)')
        THEN 'copy'
    ELSE 'other'
END;
