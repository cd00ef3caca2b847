-- Meaning: The two matrix multiplications and the softmax of attentions, as in
--   `unfused_attentions`.
-- Title: Attention as separate operators
-- Short title: attention
-- Colour: compute
-- Applies to: device
-- Needs: launches
-- Names: op
-- Finding: Attention ran as separate operators {times}: a matrix multiplication, a softmax and a
--   matrix multiplication. These three took {work} of {steps}.
-- Remedy: Use torch.nn.functional.scaled_dot_product_attention. If the model uses it already, none
--   of its fused kernels supports these inputs: use half precision, a supported head size, or no
--   mask.
-- Evidence: unfused_attentions
-- Evidence of: op
-- Evidence sums: sum(device_ns)::BIGINT AS device_ns, sum(calls)::BIGINT AS calls
-- Evidence order: device_ns DESC, op
SELECT
    * EXCLUDE (calls),
    op AS name,
    attentions AS calls,
    device_ns AS work_ns,
    device_ns AS saved_ns,
    device_ns AS named_ns
FROM unfused_attentions;
