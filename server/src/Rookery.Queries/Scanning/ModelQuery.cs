using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;

namespace Rookery.Queries.Scanning;

/// <summary>The query that finds the model document or row of a <c>moreLikeThis</c> condition.</summary>
/// <param name="Finder">The query whose first result is the model. Without a result the whole query is
/// refused.</param>
/// <param name="Condition">The condition whose model is set.</param>
/// <param name="Position">The condition's position in the query's text.</param>
public sealed record ModelQuery(CompiledQuery Finder, ISimilarityCondition Condition, int Position)
{
    /// <summary>The message if <see cref="Finder"/> has no result.</summary>
    public const string NotFound =
        "'moreLikeThis' names a document, or a condition that finds one, but there is no such document.";

    /// <summary>Sets a document or a reduced row as the model, if one of its rows matches the finder.</summary>
    /// <param name="document">The document; <c>default</c> for a reduced row, which belongs to no document.</param>
    /// <param name="rows">The members of its rows, without braces.</param>
    /// <param name="run">An evaluation of the finder.</param>
    /// <returns>Whether it matches.</returns>
    public bool TrySetModel(in QueriedDocument document, IReadOnlyList<byte[]> rows, ScanRun run)
    {
        foreach (byte[] row in rows)
        {
            if (run.Matches(document.WithRow(row)))
            {
                Condition.SetModel(document, rows);
                return true;
            }
        }

        return false;
    }
}
