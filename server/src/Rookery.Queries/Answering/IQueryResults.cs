using Rookery.Documents.Databases;
using Rookery.Queries.Execution;
using Rookery.Queries.Language;

namespace Rookery.Queries.Answering;

/// <summary>The page of a query's results, one after the other. One thread at a time.</summary>
public interface IQueryResults : IDisposable
{
    /// <summary>A reader for what else the answer holds, until the next pause. Not to be disposed.</summary>
    DatabaseReader Reader { get; }

    /// <summary>
    /// How many results there are, on the page or not, when that is known before the last of them; null otherwise.
    /// </summary>
    long? KnownTotal { get; }

    /// <summary>The id of the document of the result at hand, until the next move or pause; empty of a group.</summary>
    ReadOnlySpan<byte> Id { get; }

    /// <summary>Bytes of the document of the result at hand; 0 of a group.</summary>
    long DocumentBytes { get; }

    /// <summary>
    /// Goes to the next result, and makes room for writing it. The sink may refuse when there is none in time, as
    /// <see cref="IAnswerSink.WaitForRoomAsync"/> says (HTTP: 429).
    /// </summary>
    /// <returns>False behind the last of the page.</returns>
    /// <exception cref="QueryException">The query would cost more than one may.</exception>
    ValueTask<bool> MoveNextAsync();

    /// <summary>Writes the result at hand.</summary>
    void Write(IResultBuffer output);

    /// <summary>Collects the ids that the document of the result at hand refers to.</summary>
    void Collect(IReferenceCollector includes);

    /// <summary>Gives the result at hand to the notes of the answer.</summary>
    void Note(QueryNotes notes);

    /// <summary>
    /// Lets go of snapshots and of the result at hand until the next move, while a slow client is waited for.
    /// </summary>
    void Pause();

    /// <summary>
    /// Makes <see cref="KnownTotal"/>, which an index told, true of the documents as they are read. Before the first
    /// result.
    /// </summary>
    ValueTask SettleAsync() => ValueTask.CompletedTask;

    /// <summary>How many results there are, on the page or not; behind the page.</summary>
    ValueTask<long> CountAsync();

    /// <summary>
    /// Begins again with the first of what was found, behind <see cref="CountAsync"/> where <see cref="KnownTotal"/>
    /// is null.
    /// </summary>
    ValueTask RewindAsync() => throw new InvalidOperationException("Results whose number is known are gone over once.");
}
