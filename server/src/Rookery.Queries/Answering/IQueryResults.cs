using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>The page of a query's results, which are read one after another. Not thread-safe.</summary>
public interface IQueryResults : IDisposable
{
    /// <summary>A reader for included documents, valid until the next pause. The caller must not dispose it.</summary>
    DatabaseReader Reader { get; }

    /// <summary>Number of results, on the page or not; null if only reading all of them can count them.</summary>
    long? KnownTotal { get; }

    /// <summary>
    /// Number of documents or groups that <c>filter</c> was applied to, known after the last move; null without
    /// <c>filter</c>.
    /// </summary>
    long? FilteredCount => null;

    /// <summary>
    /// Number of results that the index found before the end of the page but that are left out, because they no longer
    /// match. Known after the last move. Clients add this number to the offset of the next page, so the total counts
    /// these results, too.
    /// </summary>
    long SkippedCount => 0;

    /// <summary>
    /// The id of the current result's document, valid until the next move or pause; empty for a group.
    /// </summary>
    ReadOnlySpan<byte> Id { get; }

    /// <summary>Bytes of the current result's document; 0 for a group.</summary>
    long DocumentBytes { get; }

    /// <summary>
    /// Moves to the next result, and reserves memory to write it. The sink may throw if no memory is free in time
    /// (HTTP: 429), see <see cref="IAnswerSink.WaitForMemoryAsync"/>.
    /// </summary>
    /// <returns>False after the last of the page.</returns>
    /// <exception cref="QueryException">The query exceeds its time or memory.</exception>
    ValueTask<bool> MoveNextAsync();

    /// <summary>Writes the current result.</summary>
    void Write(IResultBuffer output);

    /// <summary>Collects the ids that the current result refers to.</summary>
    void Collect(IReferenceCollector includes);

    /// <summary>
    /// Adds what the script of the selection included while the current result was written: the ids of documents, and
    /// the keys of compare-exchange values.
    /// </summary>
    void CollectScripted(IReferenceCollector documents, IReferenceCollector compareExchange)
    {
        // Groups and summaries are not computed by scripts.
    }

    /// <summary>Adds the highlights and score explanation of the current result to <paramref name="notes"/>.</summary>
    void AddNotesTo(QueryNotes notes);

    /// <summary>Releases the current result before a wait for a slow client.</summary>
    void Pause();

    /// <summary>
    /// Subtracts the documents of the page that are no results from <see cref="KnownTotal"/>, which an index counted:
    /// those that were changed or deleted since, and those that have expired. Called before the first move.
    /// </summary>
    /// <param name="expiredIds">The ids of all documents that have expired, in lower case, if no document changed since
    /// the index read it: then only ids are compared, unless the page has a limit. Null to read each document of the
    /// page.</param>
    ValueTask CorrectTotalAsync(IReadOnlySet<byte[]>? expiredIds) => ValueTask.CompletedTask;

    /// <summary>Counts the results, on the page or not. Called after the last move.</summary>
    ValueTask<long> CountAsync();

    /// <summary>
    /// Moves back before the first result. Called after <see cref="CountAsync"/> if <see cref="KnownTotal"/> is null.
    /// </summary>
    ValueTask RewindAsync() => throw new InvalidOperationException("Results whose total is known are read once.");
}
