using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// The databases of the node. Apply publishes a new immutable set when a database is created or deleted, so readers
/// always see a consistent one.
/// </summary>
public sealed class DatabaseCatalog
{
    private State _state = new([]);
    private uint _lastNumber;
    private DatabaseConfigurations _serverConfigurations = DatabaseConfigurations.None;

    internal DatabaseCatalog() { }

    /// <summary>Tells the readers of all databases which documents have expired.</summary>
    internal ExpiryClock Clock { get; } = new();

    /// <summary>All databases, ordered by lower-cased name.</summary>
    public IReadOnlyList<Database> All => Volatile.Read(ref _state).Ordered;

    /// <summary>
    /// The highest database number assigned so far. If it is read before <see cref="All"/>, a lower number that is
    /// missing there belongs to a deleted database.
    /// </summary>
    public uint LastNumber
    {
        get => Volatile.Read(ref _lastNumber);
        private set => Volatile.Write(ref _lastNumber, value);
    }

    /// <summary>
    /// The configurations for all databases, as of the last entry that readers can see. Costs one volatile read.
    /// </summary>
    public DatabaseConfigurations ServerConfigurations
    {
        get => Volatile.Read(ref _serverConfigurations);
        internal set => Volatile.Write(ref _serverConfigurations, value);
    }

    /// <summary>Finds a database by name, in any casing.</summary>
    public bool TryGet(string name, [NotNullWhen(true)] out Database? database) => TryGet(name.AsSpan(), out database);

    /// <summary>Finds a database by name, in any casing, without allocating a string.</summary>
    public bool TryGet(ReadOnlySpan<char> name, [NotNullWhen(true)] out Database? database)
    {
        Span<char> lower = stackalloc char[DatabaseName.MaximumLength];
        database = null;
        return name.Length <= lower.Length
            && Volatile.Read(ref _state).ByLowerName.TryGetValue(lower[..name.ToLowerInvariant(lower)], out database);
    }

    /// <summary>Finds a database by number.</summary>
    internal bool TryGet(uint number, [NotNullWhen(true)] out Database? database) =>
        Volatile.Read(ref _state).ByNumber.TryGetValue(number, out database);

    /// <summary>
    /// Called after readers can see an applied entry of any database, or a created or deleted database. Runs on the
    /// apply thread and must not wait.
    /// </summary>
    public Action? Applied { get; set; }

    /// <summary>
    /// Called after readers can see a changed configuration. Runs on the apply thread and must not wait.
    /// </summary>
    internal Action? Configured { get; set; }

    /// <summary>
    /// Runs background work on each database in turn. Skips databases that are deleted meanwhile or damaged: damage was
    /// reported when it was found.
    /// </summary>
    internal async Task ForEachReadableAsync(
        Func<Database, CancellationToken, Task> work,
        CancellationToken cancellationToken
    )
    {
        foreach (var database in All)
        {
            try
            {
                await work(database, cancellationToken);
            }
            catch (Exception skipped) when (skipped is DamagedException or DatabaseGoneException)
            {
                // Damage was already reported, and a deleted database needs no work.
            }
        }
    }

    /// <summary>
    /// Sorts the current set, if it is not sorted yet. The apply thread calls this when it has applied all entries,
    /// before the last is acknowledged. If it did not, the next request would sort the set, perhaps on a thread that
    /// reads a socket.
    /// </summary>
    public void SortCurrent() => Volatile.Read(ref _state).Sort();

    /// <summary>Publishes the current set of databases.</summary>
    internal void Publish(IEnumerable<Database> databases, uint lastNumber)
    {
        Volatile.Write(ref _state, new State([.. databases]));
        LastNumber = lastNumber; // after the databases, so a reader that reads the number first finds all of them
    }

    internal void Complete()
    {
        foreach (var database in All)
        {
            database.Complete();
        }
    }

    /// <summary>
    /// One set of databases. It is sorted by <see cref="SortCurrent"/> or when it is read first, not when it is
    /// published: a replay publishes a set for each created database, and nothing reads them. A start with 7,000
    /// databases took 51 s when it sorted each set. A failure to sort, for lack of memory, is not kept: the next reader
    /// tries again.
    /// </summary>
    private sealed class State
    {
        private readonly Lazy<Database[]> _ordered;
        private readonly Lazy<FrozenDictionary<string, Database>.AlternateLookup<ReadOnlySpan<char>>> _byLowerName;

        private readonly Lazy<Dictionary<uint, Database>> _byNumber;

        public State(Database[] databases)
        {
            _byNumber = new(
                () => databases.ToDictionary(static database => database.Number),
                LazyThreadSafetyMode.PublicationOnly
            );
            _ordered = new(
                () => [.. databases.OrderBy(static database => database.Record.LowerName, StringComparer.Ordinal)],
                LazyThreadSafetyMode.PublicationOnly
            );

            // Created once: creating the lookup costs more than using it.
            _byLowerName = new(
                () =>
                    databases
                        .ToFrozenDictionary(static database => database.Record.LowerName, StringComparer.Ordinal)
                        .GetAlternateLookup<ReadOnlySpan<char>>(),
                LazyThreadSafetyMode.PublicationOnly
            );
        }

        public void Sort() => _ = (_ordered.Value, _byLowerName.Value, _byNumber.Value);

        public Dictionary<uint, Database> ByNumber => _byNumber.Value;

        public Database[] Ordered => _ordered.Value;

        public FrozenDictionary<string, Database>.AlternateLookup<ReadOnlySpan<char>> ByLowerName => _byLowerName.Value;
    }
}
