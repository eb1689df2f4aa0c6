using System.Buffers;
using System.Globalization;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Server.Kestrel.Core.Features;
using Microsoft.Net.Http.Headers;
using Rookery.Documents.Transfer;
using Rookery.Platform;
using Rookery.Storage.Repair;

namespace Rookery.Cluster.Transfer;

/// <summary>
/// HTTP routes through which members fetch this node's state.
/// <para><c>GET /state/offer</c> returns an offer as JSON. It offers the changes after <c>since=ETAG</c>, if the
/// parameter is given and these changes are much smaller than the whole state; otherwise it offers the whole state.
/// 202: the offer is being written, or this node's tables have not reached <c>through=INDEX</c>; ask again. 400: one
/// of the parameters is not a number. 409: this node offers none; the body says why.</para>
/// <para><c>GET /state/OFFER/FILE</c> returns a file of the offer, from the byte that <c>Range: bytes=N-</c> names.
/// 410: the offer no longer exists, ask for another.</para>
/// <para><c>GET /state/rows?group=N&amp;from=HEX&amp;to=HEX</c> returns the rows of a key range as a run, for a member
/// that lost them, with their log position in headers.</para>
/// <para>503: the node is stopping. The port has already checked that the caller is a member.</para>
/// </summary>
/// <param name="offers">This node's offers.</param>
/// <param name="makeOffer">Makes an offer or returns the open one. Receives the etag through which the member has all
/// changes (null for none) and the member's applied index. Returns null while the offer is being written.</param>
/// <param name="time">The clock.</param>
public sealed class StateRoutes(
    SnapshotOffers offers,
    Func<long?, long, Task<SnapshotOffer?>> makeOffer,
    TimeProvider time
)
{
    /// <summary>The prefix of all paths.</summary>
    public const string Prefix = "/state";

    private const string RangePrefix = "bytes=";
    private const int PieceBytes = 256 * 1024;

    // Pause three times as long as each read took, so that sending uses a quarter of the disk's time while writes are
    // committed.
    private const int PauseFactor = 3;

    private static readonly TimeSpan LongestPause = TimeSpan.FromSeconds(1);

    // How long the receiver may take for one piece.
    private static readonly TimeSpan Timeout = TimeSpan.FromMinutes(1);

    /// <summary>Cancelled when the node stops. Running transfers, which may take minutes, are then aborted.</summary>
    public CancellationToken Stopping { get; set; }

    /// <summary>Handles a request whose path begins with <see cref="Prefix"/>.</summary>
    public async Task InvokeAsync(HttpContext http)
    {
        if (Stopping.IsCancellationRequested)
        {
            await RefuseAsync(http, StatusCodes.Status503ServiceUnavailable, "This node is stopping.");
            return;
        }

        await using var end = Stopping.UnsafeRegister(static context => ((HttpContext)context!).Abort(), http);
        await AnswerAsync(http);
    }

    private Task AnswerAsync(HttpContext http)
    {
        if (!HttpMethods.IsGet(http.Request.Method))
        {
            return RefuseAsync(http, StatusCodes.Status405MethodNotAllowed, "The state of a node is read with GET.");
        }

        string[] parts = (http.Request.Path.Value ?? string.Empty).Split('/');
        return parts switch
        {
            ["", "state", "offer"] => SendOfferAsync(http),
            ["", "state", "rows"] => SendRowsAsync(http),
            ["", "state", var offer, var file] => SendFileAsync(http, offer, file),
            _ => RefuseAsync(
                http,
                StatusCodes.Status404NotFound,
                "There are /state/offer, /state/OFFER/FILE and /state/rows."
            ),
        };
    }

    private async Task SendOfferAsync(HttpContext http)
    {
        if (!TryReadNumber(http, "since", out long? since) || !TryReadNumber(http, "through", out long? through))
        {
            await RefuseAsync(
                http,
                StatusCodes.Status400BadRequest,
                "The parameters since and through are numbers: write since=ETAG and through=INDEX, or leave them out."
            );
            return;
        }

        byte[] json;
        try
        {
            if (await makeOffer(since, through ?? 0) is not { } offer)
            {
                http.Response.StatusCode = StatusCodes.Status202Accepted;
                return;
            }

            json = offer.Encode();
        }
        catch (IOException refused)
        {
            await RefuseAsync(http, StatusCodes.Status409Conflict, refused.Message);
            return;
        }

        http.Response.ContentType = "application/json";
        http.Response.ContentLength = json.Length;
        await http.Response.Body.WriteAsync(json, http.RequestAborted);
    }

    private async Task SendFileAsync(HttpContext http, string offer, string name)
    {
        using var file = offers.Open(offer, name);
        if (file is null)
        {
            await RefuseAsync(
                http,
                StatusCodes.Status410Gone,
                "This offer was dropped, or never had such a file. Request another from /state/offer."
            );
            return;
        }

        long length = file.Length;
        if (!TryReadRange(http.Request.Headers.Range, length, out long from))
        {
            http.Response.Headers.ContentRange = string.Create(CultureInfo.InvariantCulture, $"bytes */{length}");
            await RefuseAsync(
                http,
                StatusCodes.Status416RangeNotSatisfiable,
                "The range must be `bytes=N-`, with N below the length of the file."
            );
            return;
        }

        http.Response.ContentType = "application/octet-stream";
        http.Response.Headers.AcceptRanges = "bytes";
        http.Response.ContentLength = length - from;
        if (from > 0)
        {
            http.Response.StatusCode = StatusCodes.Status206PartialContent;
            http.Response.Headers.ContentRange = new ContentRangeHeaderValue(from, length - 1, length).ToString();
        }

        await SendAsync(http, offer, file, from, length);
    }

    private async Task SendRowsAsync(HttpContext http)
    {
        if (!RowsQuery.TryRead(http.Request.Query, out var request))
        {
            await RefuseAsync(
                http,
                StatusCodes.Status400BadRequest,
                "Rows are asked for with group=NUMBER, from=HEX and to=HEX, from below to."
            );
            return;
        }

        RepairRows rows;
        try
        {
            rows = offers.WriteRows(request);
        }
        catch (IOException refused)
        {
            await RefuseAsync(http, StatusCodes.Status409Conflict, refused.Message);
            return;
        }

        try
        {
            using var file = offers.OpenRows(rows);
            http.Response.ContentType = "application/octet-stream";
            http.Response.ContentLength = file.Length;
            RowsQuery.WritePosition(http.Response.Headers, rows.Position);
            await SendAsync(http, string.Empty, file, offset: 0, file.Length);
        }
        finally
        {
            offers.DeleteRows(rows);
        }
    }

    private async Task SendAsync(HttpContext http, string offer, IDiskFile file, long offset, long length)
    {
        // The receiver writes to a disk that may be slow, so the server's minimum data rate does not apply. Timeout
        // limits the wait instead.
        if (http.Features.Get<IHttpMinResponseDataRateFeature>() is { } rate)
        {
            rate.MinDataRate = null;
        }

        byte[] buffer = ArrayPool<byte>.Shared.Rent(PieceBytes);
        try
        {
            long applied = offers.AppliedIndex;
            while (offset < length)
            {
                long readStartedAt = time.GetTimestamp();
                int read = file.Read(buffer.AsSpan(0, (int)Math.Min(PieceBytes, length - offset)), offset);
                var readDuration = time.GetElapsedTime(readStartedAt);
                if (read == 0)
                {
                    http.Abort(); // the file is shorter than its announced length
                    return;
                }

                await http
                    .Response.Body.WriteAsync(buffer.AsMemory(0, read), http.RequestAborted)
                    .AsTask()
                    .WaitAsync(Timeout, time, http.RequestAborted);
                offers.CountSent(offer, read);
                offset += read;
                if (offers.AppliedIndex != applied)
                {
                    applied = offers.AppliedIndex;
                    await Task.Delay(
                        TimeSpan.FromTicks(Math.Min(PauseFactor * readDuration.Ticks, LongestPause.Ticks)),
                        time,
                        http.RequestAborted
                    );
                }
            }
        }
        catch (TimeoutException)
        {
            http.Abort();
        }
        catch (Exception failure) when (failure is OperationCanceledException or IOException)
        {
            http.Abort(); // the receiver left, or the file cannot be read: the receiver continues with another request
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    // Returns null for a parameter that the request lacks, and false for one that is not a number.
    private static bool TryReadNumber(HttpContext http, string name, out long? number)
    {
        number = null;
        if (!http.Request.Query.TryGetValue(name, out var text))
        {
            return true;
        }

        bool isNumber = long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out long parsed);
        number = isNumber ? parsed : null;
        return isNumber;
    }

    private static bool TryReadRange(string? header, long length, out long from)
    {
        from = 0;
        return string.IsNullOrEmpty(header)
            || (
                header.StartsWith(RangePrefix, StringComparison.Ordinal)
                && header.EndsWith('-')
                && long.TryParse(
                    header.AsSpan(RangePrefix.Length, header.Length - RangePrefix.Length - 1),
                    NumberStyles.None,
                    CultureInfo.InvariantCulture,
                    out from
                )
                && from < length
            );
    }

    private static async Task RefuseAsync(HttpContext http, int status, string sentence)
    {
        http.Response.StatusCode = status;
        http.Response.ContentType = "text/plain; charset=utf-8";
        await http.Response.WriteAsync(sentence, http.RequestAborted);
    }
}
