using System.Buffers;
using System.Text;
using Rookery.Hosting.Logging;

namespace Rookery.Terminal;

/// <summary>Writes UTF-8 to another stream through <see cref="VisibleText"/>. Invalid bytes become U+FFFD.</summary>
/// <param name="to">The other stream, which stays open.</param>
internal sealed class VisibleStream(Stream to) : Stream
{
    private const int PieceBytes = 16 << 10;

    // Bytes that need no escape; most responses contain only these.
    private static readonly SearchValues<byte> Plain = SearchValues.Create([
        (byte)'\n',
        (byte)'\t',
        .. Enumerable.Range(' ', '~' - ' ' + 1).Select(static value => (byte)value),
    ]);

    private readonly Decoder _decoder = Encoding.UTF8.GetDecoder();
    private bool _isInsideCharacter;

    public override bool CanRead => false;

    public override bool CanSeek => false;

    public override bool CanWrite => true;

    public override long Length => throw new NotSupportedException();

    public override long Position
    {
        get => throw new NotSupportedException();
        set => throw new NotSupportedException();
    }

    public override void Write(ReadOnlySpan<byte> buffer)
    {
        while (!buffer.IsEmpty)
        {
            var piece = buffer[..Math.Min(buffer.Length, PieceBytes)];
            buffer = buffer[piece.Length..];
            if (!_isInsideCharacter && !piece.ContainsAnyExcept(Plain))
            {
                to.Write(piece);
            }
            else
            {
                WriteVisible(piece, flush: false);
            }
        }
    }

    public override void Write(byte[] buffer, int offset, int count) => Write(buffer.AsSpan(offset, count));

    public override Task WriteAsync(byte[] buffer, int offset, int count, CancellationToken cancellationToken) =>
        WriteAsync(buffer.AsMemory(offset, count), cancellationToken).AsTask();

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        cancellationToken.ThrowIfCancellationRequested();
        Write(buffer.Span);
        return ValueTask.CompletedTask;
    }

    public override void Flush() => to.Flush();

    public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

    public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

    public override void SetLength(long value) => throw new NotSupportedException();

    protected override void Dispose(bool disposing)
    {
        if (disposing)
        {
            WriteVisible([], flush: true);
            Flush();
        }

        base.Dispose(disposing);
    }

    private void WriteVisible(ReadOnlySpan<byte> piece, bool flush)
    {
        // Up to four bytes of a character may be left from the previous piece.
        char[] letters = new char[Encoding.UTF8.GetMaxCharCount(piece.Length + 4)];
        int count = _decoder.GetChars(piece, letters, flush);
        _isInsideCharacter = !flush && piece is [.., >= 0x80];
        var visible = new StringBuilder(count);
        VisibleText.Append(visible, letters.AsSpan(0, count));
        to.Write(Encoding.UTF8.GetBytes(visible.ToString()));
    }
}
