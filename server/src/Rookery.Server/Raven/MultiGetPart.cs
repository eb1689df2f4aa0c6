using Microsoft.AspNetCore.Http;

namespace Rookery.Server.Raven;

/// <summary>
/// Where one request of a multi_get answers: into the answer of all, part by part, so that no answer lies in memory as
/// a whole however long it is. A feature of the part's context, which says too that the room of its body is taken
/// already.
/// </summary>
internal sealed class MultiGetPart(HttpContext http, AnswerBuffer answer) : Stream
{
    private readonly int _start = answer.Length;
    private bool _isPartSent;

    /// <summary>The multi_get.</summary>
    public HttpContext Around => http;

    /// <summary>Bytes answered so far.</summary>
    public long Answered { get; private set; }

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => Answered;

    public override long Position
    {
        get => Answered;
        set => throw new NotSupportedException();
    }

    /// <summary>Takes back what was answered, so that something else can be.</summary>
    /// <returns>False when some of it is with the client already.</returns>
    public bool TryTakeBack()
    {
        if (_isPartSent)
        {
            return false;
        }

        answer.Truncate(_start);
        Answered = 0;
        return true;
    }

    public override async ValueTask WriteAsync(
        ReadOnlyMemory<byte> buffer,
        CancellationToken cancellationToken = default
    )
    {
        answer.Write(buffer.Span);
        Answered += buffer.Length;
        if (answer.IsPartDue)
        {
            _isPartSent = true;
            await answer.SendPartAsync(http, pause: null);
        }
    }

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override void Write(byte[] buffer, int offset, int count) =>
        throw new NotSupportedException("Answers are written asynchronously.");

    public override void Flush()
    {
        // What is written is in the answer of all.
    }

    public override Task FlushAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();
}
