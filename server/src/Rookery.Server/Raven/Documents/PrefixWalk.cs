using System.Text;
using Microsoft.AspNetCore.Http;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Platform;
using Rookery.Queries.Answering;

namespace Rookery.Server.Raven.Documents;

/// <summary>
/// Enumerates the documents selected by startsWith, matches, exclude, startAfter, start and pageSize: in id order, or
/// newest first without startsWith and startAfter.
/// </summary>
internal sealed class PrefixWalk : IDisposable
{
    // A time slice that is over took at least its length.
    private static readonly long MaxSlicesPerResult = TimeSlices.MaxWork.Ticks / TimeSlices.SliceLength.Ticks;

    private readonly AnswerReader _reader;
    private readonly DocumentCursor _cursor;
    private readonly RequestTimeSlices _slices;
    private readonly int _lowerPrefixBytes;
    private readonly IdPattern _matches;
    private readonly IdPattern _exclude;
    private long _toSkip;
    private long _remaining;

    private PrefixWalk(HttpContext http, Database database, DocumentResponse answer, RequestTimeSlices slices)
    {
        _slices = slices;
        var parameters = new QueryParameters(http);
        byte[] prefix = Encoding.UTF8.GetBytes(parameters.Text("startsWith") ?? "");
        byte[] startAfter = Encoding.UTF8.GetBytes(parameters.Text("startAfter") ?? "");
        if (prefix.Length > DocumentId.MaxBytes || startAfter.Length > DocumentId.MaxBytes)
        {
            throw RefusedException.BadRequest(
                $"'startsWith' and 'startAfter' have at most {DocumentId.MaxBytes} bytes of UTF-8, as ids have."
            );
        }

        _matches = new IdPattern(parameters.Text("matches") ?? "");
        _exclude = new IdPattern(parameters.Text("exclude") ?? "");
        _toSkip = parameters.Number("start", defaultValue: 0);
        _remaining = parameters.Number("pageSize", long.MaxValue);
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        _lowerPrefixBytes = DocumentId.ToLower(prefix, lower);
        bool isByPrefix = parameters.TryGetEscaped("startsWith", out _) || startAfter.Length > 0;

        _reader = new AnswerReader(database, answer);
        _cursor = isByPrefix
            ? _reader.Current.SeekByIdPrefix(prefix, startAfter)
            : _reader.Current.SeekByEtagBackward();
    }

    /// <summary>Length of the current document in bytes.</summary>
    public long Length => _cursor.Length;

    /// <summary>Opens an enumeration, positioned before the first document.</summary>
    /// <exception cref="RefusedException">A parameter is invalid: 400.</exception>
    public static PrefixWalk Open(
        HttpContext http,
        Database database,
        DocumentResponse answer,
        RequestTimeSlices slices
    ) => new(http, database, answer, slices);

    /// <summary>Moves to the next document. Yields between the time slices in which it skips others.</summary>
    /// <returns>False at the end.</returns>
    /// <exception cref="RefusedException">Skipping takes longer than <see cref="TimeSlices.MaxWork"/>: 400.</exception>
    /// <exception cref="OperationCanceledException">The client closed the connection, or the node stops.</exception>
    public async ValueTask<bool> MoveNextAsync()
    {
        long slices = 0;
        while (_remaining > 0 && _cursor.MoveNext(out bool isPresent))
        {
            _slices.CountRead();
            if (isPresent && IsWanted())
            {
                if (_toSkip == 0)
                {
                    _remaining--;
                    return true;
                }

                _toSkip--;
            }

            if (_slices.IsSliceOver)
            {
                Pause();
                await _slices.YieldAsync();
                if (++slices > MaxSlicesPerResult)
                {
                    throw RefusedException.BadRequest(
                        $"The request skipped documents for {Amount.Number((long)TimeSlices.MaxWork.TotalMinutes)} min "
                            + "and found no further one. Give a longer 'startsWith', or continue by 'startAfter' "
                            + "instead of 'start'."
                    );
                }
            }
        }

        return false;
    }

    /// <summary>Writes the current document.</summary>
    public void Write(ResponseBuffer answer, Database database, bool metadataOnly = false) =>
        DocumentJson.Write(answer, _cursor, database, metadataOnly);

    /// <summary>
    /// Releases the current document. The next <see cref="MoveNextAsync"/> moves to the same document again.
    /// </summary>
    public void StepBack()
    {
        _remaining++;
        _cursor.StepBack();
        _reader.Pause();
    }

    /// <summary>Releases the current document until the next move. Call it before a wait for the client.</summary>
    public void Pause()
    {
        _cursor.Pause();
        _reader.Pause();
    }

    public void Dispose()
    {
        _cursor.Dispose();
        _reader.Dispose();
    }

    private bool IsWanted()
    {
        if (_matches.IsEmpty && _exclude.IsEmpty)
        {
            return true;
        }

        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        var afterPrefix = lower[..DocumentId.ToLower(_cursor.Head.Id, lower)][_lowerPrefixBytes..];
        return (_matches.IsEmpty || _matches.IsMatch(afterPrefix))
            && (_exclude.IsEmpty || !_exclude.IsMatch(afterPrefix));
    }
}
