namespace Rookery.Storage;

/// <summary>
/// One table of every database. The engine stores rows of tables that it was told of and refuses others.
/// </summary>
/// <param name="Number">The byte after the database number in a key; 0 to 239. The engine keeps the rest for
/// itself.</param>
/// <param name="Name">What statistics and damage reports call it.</param>
/// <param name="Group">Tables of one group share run files; 0 to 239. Put together what is read and aged
/// together.</param>
/// <param name="IsWalkedOnly">Its rows are never looked up by key. Runs of a group in which this holds for all carry no
/// Bloom filter; a look-up would still answer, and read a block for it.</param>
public readonly record struct TableDefinition(byte Number, string Name, byte Group, bool IsWalkedOnly = false);
