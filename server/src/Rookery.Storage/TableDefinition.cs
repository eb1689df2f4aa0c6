namespace Rookery.Storage;

/// <summary>One table of every database. The engine refuses rows of other tables.</summary>
/// <param name="Number">The byte after the database number in a key; 0 to 239. The engine reserves the rest.</param>
/// <param name="Name">The table's name in statistics and damage reports.</param>
/// <param name="Group">Number of the group, 0 to 239. Tables of one group share run files: put tables together that are
/// read and expire together.</param>
/// <param name="IsWalkedOnly">Whether its rows are scanned, and looked up by key only seldom. Memtables then have no
/// hash of its keys. If this holds for all tables of a group, its runs have no Bloom filter: a lookup reads a block of
/// each run that spans the key.</param>
public readonly record struct TableDefinition(byte Number, string Name, byte Group, bool IsWalkedOnly = false);
