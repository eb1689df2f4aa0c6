using System.Collections.Frozen;
using System.Diagnostics.CodeAnalysis;
using Rookery.Documents.Changes;
using Rookery.Storage;

namespace Rookery.Documents.Databases;

/// <summary>
/// The databases of the node. Readers see one state or the next, never a half; apply publishes a new state when a
/// database comes or goes.
/// </summary>
public sealed class DatabaseCatalog
{
    private readonly ChangeHub<DatabaseChange> _changes = new();
    private State _state = new([]);
    private uint _lastNumber;

    internal DatabaseCatalog() { }

    /// <summary>All databases, ordered by name without case.</summary>
    public IReadOnlyList<Database> All => Volatile.Read(ref _state).Ordered;

    /// <summary>
    /// The last number that a database was given. Read before <see cref="All"/>: who has a number up to it and is not
    /// among those has been deleted.
    /// </summary>
    public uint LastNumber
    {
        get => Volatile.Read(ref _lastNumber);
        private set => Volatile.Write(ref _lastNumber, value);
    }

    /// <summary>Finds a database by name, without case.</summary>
    public bool TryGet(string name, [NotNullWhen(true)] out Database? database) => TryGet(name.AsSpan(), out database);

    /// <summary>Finds a database by name, without case and without making a string of it.</summary>
    public bool TryGet(ReadOnlySpan<char> name, [NotNullWhen(true)] out Database? database)
    {
        Span<char> lower = stackalloc char[DatabaseName.MaximumLength];
        database = null;
        return name.Length <= lower.Length
            && Volatile.Read(ref _state).ByLowerName.TryGetValue(lower[..name.ToLowerInvariant(lower)], out database);
    }

    /// <summary>A stream of the databases that come and go from now on.</summary>
    public ChangeSubscription<DatabaseChange> Subscribe() => _changes.Subscribe();

    /// <summary>
    /// Told when something that was applied can be read, of any database, or one came or went. On the thread that
    /// applies, which must not wait.
    /// </summary>
    public Action? Applied { get; set; }

    /// <summary>
    /// Does background work on each database in turn. One that goes meanwhile, or whose rows cannot be read does not
    /// keep the others from it: its damage was told of when it was found.
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
            catch (Exception passed) when (passed is DamagedException or DatabaseGoneException)
            {
                // What is damaged stays as it is, and what is gone needs nothing.
            }
        }
    }

    /// <summary>Publishes the databases that exist now.</summary>
    internal void Publish(IEnumerable<Database> databases, uint lastNumber)
    {
        var ordered = databases.OrderBy(database => database.Record.LowerName, StringComparer.Ordinal).ToArray();
        Volatile.Write(ref _state, new State(ordered));
        LastNumber = lastNumber; // after the databases: who reads it first finds all up to it among them
    }

    internal void Announce(in DatabaseChange change) => _changes.Publish(change);

    internal void Complete()
    {
        _changes.Complete();
        foreach (var database in All)
        {
            database.Complete();
        }
    }

    private sealed class State(Database[] ordered)
    {
        public Database[] Ordered => ordered;

        // A lookup is made of the dictionary once: making it costs more than using it.
        public FrozenDictionary<string, Database>.AlternateLookup<ReadOnlySpan<char>> ByLowerName { get; } =
            ordered
                .ToFrozenDictionary(database => database.Record.LowerName, StringComparer.Ordinal)
                .GetAlternateLookup<ReadOnlySpan<char>>();
    }
}
