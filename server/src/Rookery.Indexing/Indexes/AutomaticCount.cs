using System.Runtime.CompilerServices;
using Rookery.Documents.Databases;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Counts the automatic indexes of each database. The count is cached: every query that needs a new index asks for it,
/// and counting reads all definitions of the database, up to a thousand of 256 KiB. Thread-safe.
/// </summary>
public sealed class AutomaticCount
{
    private readonly ConditionalWeakTable<Database, Counted> _countOfDatabase = [];
    private long _definitionsRead;

    /// <summary>Number of index definitions read since the start.</summary>
    public long DefinitionsRead => Volatile.Read(ref _definitionsRead);

    /// <summary>Returns the number of indexes of a database, automatic or not; 0 if the database is deleted.</summary>
    public static int OfAll(Database database)
    {
        try
        {
            using var reader = database.OpenReader();
            return reader.ReadIndexCounts().Count;
        }
        catch (DatabaseGoneException)
        {
            return 0;
        }
    }

    /// <summary>Returns the number of automatic indexes of a database; 0 if the database is deleted.</summary>
    public int Of(Database database)
    {
        try
        {
            using var reader = database.OpenReader();
            var state = reader.ReadIndexCounts();
            if (_countOfDatabase.TryGetValue(database, out var known) && known.State == state)
            {
                return known.Automatic;
            }

            var records = reader.ReadIndexes();
            Interlocked.Add(ref _definitionsRead, records.Count);
            int automatic = records.Count(static record => IndexQuota.PlaceOf(record) == IndexPlace.Automatic);
            _countOfDatabase.AddOrUpdate(database, new Counted(state, automatic));
            return automatic;
        }
        catch (DatabaseGoneException)
        {
            return 0;
        }
    }

    private sealed record Counted((long LastNumber, int Count) State, int Automatic);
}
