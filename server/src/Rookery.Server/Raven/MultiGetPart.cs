using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// The response body of one request inside a multi_get. It writes into the answer of the multi_get, which is sent part
/// by part, so that no inner answer is in memory as a whole. It is also a feature of the inner request's context:
/// handlers that find it know that the memory of the inner body is already admitted.
/// </summary>
/// <param name="http">The request of the multi_get.</param>
/// <param name="answer">The answer of the multi_get.</param>
/// <param name="lease">The memory of the multi_get.</param>
internal sealed class MultiGetPart(HttpContext http, ResponseBuffer answer, LargeRequests.Lease lease) : Stream
{
    private readonly int _start = answer.Length;
    private bool _isPartSent;

    /// <summary>The request of the multi_get itself.</summary>
    public HttpContext Outer => http;

    /// <summary>
    /// The memory of the multi_get, which the inner request extends: two leases of one request might wait for each
    /// other.
    /// </summary>
    public LargeRequests.Lease Lease => lease;

    /// <summary>Bytes of this inner answer so far.</summary>
    public long WrittenBytes { get; private set; }

    /// <summary>Whether this inner request is a query of an index that does not exist. It has no body then.</summary>
    public bool IsIndexMissing { get; set; }

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => WrittenBytes;

    public override long Position
    {
        get => WrittenBytes;
        set => throw new NotSupportedException();
    }

    /// <summary>Removes the bytes that this inner request wrote, so that an error can replace them.</summary>
    /// <returns>False if some of the bytes were already sent.</returns>
    public bool TryDiscard()
    {
        if (_isPartSent)
        {
            return false;
        }

        answer.Truncate(_start);
        WrittenBytes = 0;
        return true;
    }

    public override async ValueTask WriteAsync(
        ReadOnlyMemory<byte> buffer,
        CancellationToken cancellationToken = default
    )
    {
        answer.Write(buffer.Span);
        WrittenBytes += buffer.Length;
        if (answer.IsPartDue)
        {
            _isPartSent = true;
            await answer.SendPartAsync(http, pause: null);
            lease.Renew(); // the next part has a deadline of its own
        }
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override void Write(byte[] buffer, int offset, int count) =>
        throw new NotSupportedException("Answers are written asynchronously.");

    public override void Flush()
    {
        // Nothing to flush: written bytes are already in the answer of the multi_get.
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
