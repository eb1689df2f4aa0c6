using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;

namespace Rookery.Queries.Scanning;

/// <summary>Finds the document that a condition compares with.</summary>
/// <param name="Finder">Its first result is that document; without one the query is wrong.</param>
/// <param name="Condition">Learns it.</param>
/// <param name="Position">Characters of the query before it.</param>
public sealed record LikenessSource(ScanPlan Finder, ILikenessCondition Condition, int Position)
{
    /// <summary>What a query is refused with whose <see cref="Finder"/> finds nothing.</summary>
    public const string NotFound = "'moreLikeThis' names a document, or a condition that finds one; there is none.";

    /// <summary>
    /// Learns a document, or a reduced row, if it is a result of the finder by what an index holds of it.
    /// </summary>
    /// <param name="document">The document; none of a reduced row.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    /// <param name="run">A run of the finder.</param>
    /// <returns>Whether it is.</returns>
    public bool TryLearn(in QueriedDocument document, IReadOnlyList<byte[]> rows, ScanRun run)
    {
        foreach (byte[] row in rows)
        {
            if (run.Matches(document.WithRow(row)))
            {
                Condition.Learn(document, rows);
                return true;
            }
        }

        return false;
    }
}
