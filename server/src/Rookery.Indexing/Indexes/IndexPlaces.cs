using System.Collections.Frozen;
using Rookery.Documents.Databases;
using Rookery.Documents.Indexes;
using Rookery.Indexing.Mapping;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Chooses which indexes a node maintains if the log defines more than its <see cref="IndexQuota"/> allows: those of
/// users before automatic ones, and in each class the oldest definitions of all databases. So all members with equal
/// memory maintain the same indexes, before and after a restart, and a new definition never displaces an older one.
/// Thread-safe.
/// </summary>
internal sealed class IndexPlaces(int maxIndexes, int maxAutomatic)
{
    private readonly Lock _gate = new();
    private readonly Dictionary<Database, List<Ranked>> _definitions = [];

    private bool _isStale; // definitions changed since the last choice

    // The chosen indexes; null while there is a place for each.
    private FrozenSet<(Database Database, string LowerName)>? _chosen;

    /// <summary>Whether there is a place for each index that is defined.</summary>
    public bool HaveAllOne => Chosen() is null;

    /// <summary>Returns whether an index has a place.</summary>
    /// <param name="database">The database, whose definitions were read.</param>
    /// <param name="lowerName">The lower-cased name of the index.</param>
    public bool Has(Database database, string lowerName) =>
        Chosen() is not { } chosen || chosen.Contains((database, lowerName));

    /// <summary>
    /// Chooses again, by the definitions that the log has now for a database. Returns a function from the lower-cased
    /// name of an index of the database to whether that index has a place. If the definitions cannot be read, every
    /// index counts as having one.
    /// </summary>
    public Func<string, bool> WithNewest(Database database)
    {
        if (TryRead(database) is not { } ranked)
        {
            return static _ => true;
        }

        Dictionary<Database, List<Ranked>> definitions;
        lock (_gate)
        {
            definitions = new(_definitions) { [database] = ranked };
        }

        var chosen = Choose(definitions);
        return lowerName => chosen?.Contains((database, lowerName)) ?? true;
    }

    /// <summary>
    /// Reads the definitions of a database. If they cannot be read, they are added when the indexes follow the log.
    /// </summary>
    public void Add(Database database) => Set(database, TryRead(database) ?? []);

    /// <summary>Sets the definitions of a database.</summary>
    /// <param name="database">The database.</param>
    /// <param name="definitions">Its definitions.</param>
    /// <param name="lastDefinition">As <see cref="DatabaseReader.ReadLastIndexDefinition"/>.</param>
    public void Set(
        Database database,
        IEnumerable<(IndexRecord Record, IndexPlace Place)> definitions,
        long lastDefinition
    ) => Set(database, Rank(definitions, lastDefinition));

    /// <summary>Forgets the definitions of a database.</summary>
    public void Remove(Database database)
    {
        lock (_gate)
        {
            if (_definitions.Remove(database))
            {
                Volatile.Write(ref _isStale, true);
            }
        }
    }

    private void Set(Database database, List<Ranked> ranked)
    {
        lock (_gate)
        {
            if (!_definitions.TryGetValue(database, out var before) || !before.SequenceEqual(ranked))
            {
                _definitions[database] = ranked;
                Volatile.Write(ref _isStale, true);
            }
        }
    }

    // Chooses when the choice is asked for: at a start the definitions of each database are set twice, and each choice
    // sorts those of all databases.
    private FrozenSet<(Database Database, string LowerName)>? Chosen()
    {
        if (Volatile.Read(ref _isStale))
        {
            lock (_gate)
            {
                if (_isStale)
                {
                    Volatile.Write(ref _chosen, Choose(_definitions));
                    Volatile.Write(ref _isStale, false);
                }
            }
        }

        return Volatile.Read(ref _chosen);
    }

    // Null if the definitions cannot be read now.
    private static List<Ranked>? TryRead(Database database)
    {
        try
        {
            using var reader = database.OpenReader();
            return Rank(
                reader.ReadIndexes().Select(static record => (record, IndexQuota.PlaceOf(record))),
                reader.ReadLastIndexDefinition()
            );
        }
        catch (IOException)
        {
            return null; // the database is gone, its rows are damaged, or the disk failed
        }
    }

    // The log does not record when an index was defined. It records the etag of the last change of the index's record,
    // and a change of settings raises this etag, too. But each definition gets a higher number than the one before. So
    // an index was defined no later than the last definition of its database, and no later than any change of an index
    // with the same or a higher number.
    private static List<Ranked> Rank(
        IEnumerable<(IndexRecord Record, IndexPlace Place)> definitions,
        long lastDefinition
    )
    {
        var ranked = new List<Ranked>();
        long oldest = lastDefinition;
        foreach (var (record, place) in definitions.OrderByDescending(static index => NumberOf(index.Record)))
        {
            oldest = Math.Min(oldest, record.Version);
            ranked.Add(new Ranked(oldest, NumberOf(record), place, LowerNames.Index(record.Name)));
        }

        return ranked;
    }

    // Returns the number by which the age of a definition counts. A changed definition counts as old as the one that it
    // replaces, so that the index keeps its place.
    private static long NumberOf(IndexRecord record) =>
        record.Replaced is { } before ? Math.Min(before.Number, record.Number) : record.Number;

    private FrozenSet<(Database Database, string LowerName)>? Choose(Dictionary<Database, List<Ranked>> definitions)
    {
        int count = definitions.Values.Sum(static ranked => ranked.Count);
        if (count <= maxAutomatic)
        {
            return null; // all of them may be automatic
        }

        var ofUsers = Oldest(definitions, IndexPlace.Defined, maxIndexes);
        var automatic = Oldest(definitions, IndexPlace.Automatic, Math.Min(maxAutomatic, maxIndexes - ofUsers.Count));
        return ofUsers.Count + automatic.Count == count ? null : ofUsers.Concat(automatic).ToFrozenSet();
    }

    private static List<(Database Database, string LowerName)> Oldest(
        Dictionary<Database, List<Ranked>> definitions,
        IndexPlace place,
        int max
    ) =>
        [
            .. definitions
                .SelectMany(static definition =>
                    definition.Value.Select(ranked => (Database: definition.Key, Index: ranked))
                )
                .Where(candidate => candidate.Index.Place == place)
                .OrderBy(static candidate => candidate.Index.Etag)
                .ThenBy(static candidate => candidate.Database.Number)
                .ThenBy(static candidate => candidate.Index.Number)
                .Take(max)
                .Select(static candidate => (candidate.Database, candidate.Index.LowerName)),
        ];

    // The etag is not below that of the definition. The number is that of the definition in its database.
    private readonly record struct Ranked(long Etag, long Number, IndexPlace Place, string LowerName);
}
