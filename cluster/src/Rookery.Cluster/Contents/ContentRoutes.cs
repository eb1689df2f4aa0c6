using System.Buffers;
using System.Globalization;
using Microsoft.AspNetCore.Http;
using Rookery.Cluster.Peers;
using Rookery.Documents.Attachments;
using Rookery.Raft;

namespace Rookery.Cluster.Contents;

/// <summary>
/// HTTP routes through which members exchange contents of attachments.
/// <para><c>GET /contents/NAME?from=N</c> returns up to 256 KiB of a content from byte N on. 404: the content is not
/// here; headers report whether a row of this node names it, and the index of the last entry that this node had
/// applied.</para>
/// <para><c>GET /contents?after=NAME</c> lists up to 512 contents, and the members of the cluster.</para>
/// <para><c>POST /contents</c> offers contents, and returns how many are missing.</para>
/// <para>503: the node is stopping, or already answers as many requests of this member as allowed. The port has already
/// checked that the caller is a member.</para>
/// </summary>
/// <param name="source">Computes the answers.</param>
internal sealed class ContentRoutes(ContentSource source)
{
    /// <summary>The prefix of all paths.</summary>
    public const string Prefix = "/contents";

    // Each read takes the memory of a piece. At one time, a member reads for at most a few offered contents, one entry
    // and one repair. It makes one offer for each of its uploads.
    private const int MaxReadsOfMember = 8;
    private const int MaxOffersOfMember = 64;

    private readonly Lock _gate = new();
    private readonly Dictionary<(NodeId Member, bool IsOffer), int> _running = [];

    /// <summary>Cancelled when the node stops. Running requests are then aborted.</summary>
    public CancellationToken Stopping { get; set; }

    /// <summary>Handles a request whose path begins with <see cref="Prefix"/>.</summary>
    public async Task InvokeAsync(HttpContext http)
    {
        bool isOffer = HttpMethods.IsPost(http.Request.Method);
        var caller = (http.Features.Get<ProvenPeer>()?.Verdict.Member ?? default, isOffer);
        if (Stopping.IsCancellationRequested || !TryEnter(caller))
        {
            http.Response.StatusCode = StatusCodes.Status503ServiceUnavailable;
            return;
        }

        try
        {
            await using var end = Stopping.UnsafeRegister(static context => ((HttpContext)context!).Abort(), http);
            await AnswerAsync(http, isOffer, caller.Item1);
        }
        catch (Exception failure) when (failure is OperationCanceledException or IOException)
        {
            http.Abort(); // the caller left, or the disk failed: the caller asks again, or asks another member
        }
        finally
        {
            Leave(caller);
        }
    }

    private Task AnswerAsync(HttpContext http, bool isOffer, NodeId caller)
    {
        string path = http.Request.Path.Value ?? string.Empty;
        if (isOffer && path is Prefix)
        {
            return TakeOfferAsync(http, caller);
        }

        if (!HttpMethods.IsGet(http.Request.Method))
        {
            http.Response.StatusCode = StatusCodes.Status405MethodNotAllowed;
            return Task.CompletedTask;
        }

        string? after = http.Request.Query["after"];
        if (path is Prefix && string.IsNullOrEmpty(after))
        {
            return ListAsync(http, after: null);
        }

        if (path is Prefix && ContentEncoding.TryParse(after, out var last))
        {
            return ListAsync(http, last);
        }

        if (
            path.StartsWith(Prefix + "/", StringComparison.Ordinal)
            && ContentEncoding.TryParse(path[(Prefix.Length + 1)..], out var name)
            && long.TryParse(http.Request.Query["from"], NumberStyles.None, CultureInfo.InvariantCulture, out long from)
        )
        {
            return SendAsync(http, name, from);
        }

        http.Response.StatusCode = StatusCodes.Status400BadRequest;
        return Task.CompletedTask;
    }

    private async Task SendAsync(HttpContext http, ContentName name, long from)
    {
        byte[] buffer = ArrayPool<byte>.Shared.Rent(ReplicatedContents.PieceBytes);
        try
        {
            var piece = source.Read(name, from, buffer);
            http.Response.Headers[ContentEncoding.IndexHeader] = ContentEncoding.ToText(piece.AppliedIndex);
            http.Response.Headers[ContentEncoding.StateHeader] = ContentEncoding.ToText((long)piece.State);
            if (piece.State != ContentState.Whole)
            {
                http.Response.StatusCode = StatusCodes.Status404NotFound;
                return;
            }

            http.Response.ContentType = "application/octet-stream";
            http.Response.ContentLength = piece.Bytes;
            await http.Response.Body.WriteAsync(buffer.AsMemory(0, piece.Bytes), http.RequestAborted);
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(buffer);
        }
    }

    private async Task ListAsync(HttpContext http, ContentName? after)
    {
        byte[] body = ContentEncoding.Encode(source.List(after));
        http.Response.ContentType = "application/octet-stream";
        http.Response.ContentLength = body.Length;
        await http.Response.Body.WriteAsync(body, http.RequestAborted);
    }

    private async Task TakeOfferAsync(HttpContext http, NodeId caller)
    {
        const int MaxBytes = ContentEncoding.MaxOffered * ContentEncoding.NameBytes;
        byte[] body = ArrayPool<byte>.Shared.Rent(MaxBytes + 1);
        List<ContentName>? names;
        try
        {
            int length = await http.Request.Body.ReadAtLeastAsync(
                body.AsMemory(0, MaxBytes + 1),
                MaxBytes + 1,
                throwOnEndOfStream: false,
                http.RequestAborted
            );
            names = length <= MaxBytes ? ContentEncoding.Decode(body.AsSpan(0, length)) : null;
        }
        finally
        {
            ArrayPool<byte>.Shared.Return(body);
        }

        if (names is null)
        {
            http.Response.StatusCode = StatusCodes.Status400BadRequest;
            return;
        }

        byte[] answer = ContentEncoding.Encode(await source.OfferAsync(caller, names));
        http.Response.ContentLength = answer.Length;
        await http.Response.Body.WriteAsync(answer, http.RequestAborted);
    }

    private bool TryEnter((NodeId Member, bool IsOffer) caller)
    {
        lock (_gate)
        {
            int running = _running.GetValueOrDefault(caller);
            if (running >= (caller.IsOffer ? MaxOffersOfMember : MaxReadsOfMember))
            {
                return false;
            }

            _running[caller] = running + 1;
            return true;
        }
    }

    private void Leave((NodeId Member, bool IsOffer) caller)
    {
        lock (_gate)
        {
            if (--_running[caller] == 0)
            {
                _running.Remove(caller);
            }
        }
    }
}
