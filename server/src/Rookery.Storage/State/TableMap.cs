using Rookery.Platform;

namespace Rookery.Storage.State;

/// <summary>Maps tables to groups, including the engine's own tables.</summary>
internal sealed class TableMap
{
    /// <summary>Table and group of released large values, whose chunks a merge may drop.</summary>
    public const byte Released = 0xFE;

    /// <summary>Table and group of the chunks of large values.</summary>
    public const byte Chunks = 0xFF;

    private const int FirstReserved = 240;
    private readonly byte[] _groupOf = new byte[256];
    private readonly string?[] _nameOf = new string?[256];
    private readonly bool[] _isLookedUp = new bool[256];
    private readonly bool[] _isTableLookedUp = new bool[256];

    /// <summary>Creates the map from the caller's tables.</summary>
    public TableMap(IEnumerable<TableDefinition> tables)
    {
        foreach (TableDefinition table in tables)
        {
            Invariant.Holds(
                table.Number < FirstReserved && table.Group < FirstReserved,
                "tables and groups from 240 on are the engine's own"
            );
            Add(table);
        }

        Add(new TableDefinition(Released, "released large values", Released));
        Add(new TableDefinition(Chunks, "chunks of large values", Chunks));
        Groups =
        [
            .. Enumerable.Range(0, 256).Where(i => _nameOf[i] is not null).Select(i => _groupOf[i]).Distinct().Order(),
        ];
    }

    /// <summary>All groups, in order.</summary>
    public IReadOnlyList<byte> Groups { get; }

    /// <summary>Returns the group of a table.</summary>
    public byte GroupOf(byte table)
    {
        Invariant.Holds(_nameOf[table] is not null, "rows belong to a known table");
        return _groupOf[table];
    }

    /// <summary>Returns whether rows of a group are looked up by key, so that a Bloom filter is useful.</summary>
    public bool IsLookedUp(byte group) => _isLookedUp[group];

    /// <summary>Returns whether rows of a table are looked up by key, so that a hash of the keys is useful.</summary>
    public bool IsTableLookedUp(byte table) => _isTableLookedUp[table];

    /// <summary>Returns whether a table is known.</summary>
    public bool Contains(byte table) => _nameOf[table] is not null;

    /// <summary>Returns the tables of a group.</summary>
    public IEnumerable<byte> TablesOf(byte group) =>
        Enumerable.Range(0, 256).Where(i => _nameOf[i] is not null && _groupOf[i] == group).Select(i => (byte)i);

    /// <summary>Returns the names of a group's tables, for messages.</summary>
    public string NamesOf(byte group) => string.Join(", ", TablesOf(group).Select(table => _nameOf[table]));

    private void Add(TableDefinition table)
    {
        Invariant.Holds(_nameOf[table.Number] is null, "a table number is used once");
        _nameOf[table.Number] = table.Name;
        _groupOf[table.Number] = table.Group;
        _isLookedUp[table.Group] |= !table.IsWalkedOnly;
        _isTableLookedUp[table.Number] = !table.IsWalkedOnly;
    }
}
