-- `is_data_loader(name)`: whether an operator belongs to a data loader.
CREATE MACRO is_data_loader(name) AS regexp_matches(
    name, '^enumerate\(DataLoader\)|DataLoaderIter\.__next__|DataPipe.*__next__'
);
