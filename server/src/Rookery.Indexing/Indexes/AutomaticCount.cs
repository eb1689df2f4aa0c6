using System.Runtime.CompilerServices;
using Rookery.Documents.Databases;

namespace Rookery.Indexing.Indexes;

/// <summary>
/// Counts the indexes that queries had made, by the definitions of a database. These are read again only when they
/// changed: there may be a thousand of 256 KiB, and each query that needs an index asks. Any number of threads.
/// </summary>
public sealed class AutomaticCount
{
    private readonly ConditionalWeakTable<Database, Counted> _known = [];
    private long _definitionsRead;

    /// <summary>Definitions read since the start.</summary>
    public long DefinitionsRead => Volatile.Read(ref _definitionsRead);

    /// <summary>
    /// How many indexes a database has, automatic or not. One that is deleted meanwhile has none, and must not fail the
    /// query of another one.
    /// </summary>
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

    /// <summary>How many of them are automatic.</summary>
    public int Of(Database database)
    {
        try
        {
            using var reader = database.OpenReader();
            var state = reader.ReadIndexCounts();
            if (_known.TryGetValue(database, out var known) && known.State == state)
            {
                return known.Automatic;
            }

            var records = reader.ReadIndexes();
            Interlocked.Add(ref _definitionsRead, records.Count);
            int automatic = records.Count(static record => IndexQuota.PlaceOf(record) == IndexPlace.Automatic);
            _known.AddOrUpdate(database, new Counted(state, automatic));
            return automatic;
        }
        catch (DatabaseGoneException)
        {
            return 0;
        }
    }

    private sealed record Counted((long LastNumber, int Count) State, int Automatic);
}
