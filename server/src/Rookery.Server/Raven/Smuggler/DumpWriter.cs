using System.Buffers;
using System.IO.Compression;

namespace Rookery.Server.Raven.Smuggler;

/// <summary>Writes a dump of RavenDB, compressed with gzip: one object whose members are lists of elements.</summary>
/// <param name="output">Receives the compressed bytes.</param>
internal sealed class DumpWriter(IBufferWriter<byte> output) : IDisposable
{
    private readonly GZipStream _gzip = new(new Sink(output), CompressionLevel.Fastest);
    private bool _isFirstMember = true;
    private bool _isFirstElement = true;

    /// <summary>Holds one element until it is written.</summary>
    public ResponseBuffer Element { get; } = ResponseBuffer.Rent();

    /// <summary>Begins the dump.</summary>
    public void Begin() => _gzip.Write("{"u8);

    /// <summary>Writes a member with a JSON value.</summary>
    public void WriteMember(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
    {
        WriteName(name);
        _gzip.Write(value);
    }

    /// <summary>Begins a list.</summary>
    public void BeginList(ReadOnlySpan<byte> name)
    {
        WriteName(name);
        _gzip.Write("["u8);
        _isFirstElement = true;
    }

    /// <summary>Writes <see cref="Element"/> as the next element of the list, and clears it.</summary>
    public void WriteElement()
    {
        _gzip.Write(_isFirstElement ? ""u8 : ","u8);
        _gzip.Write(Element.Written.Span);
        _isFirstElement = false;
        Element.Truncate(0);
        Element.Trim(); // a large document must not keep its memory
    }

    /// <summary>Writes raw bytes that follow an element.</summary>
    public void WriteRaw(ReadOnlySpan<byte> bytes) => _gzip.Write(bytes);

    /// <summary>Ends a list.</summary>
    public void EndList() => _gzip.Write("]"u8);

    /// <summary>Ends the dump; all bytes are in the output afterwards.</summary>
    public void End()
    {
        _gzip.Write("}"u8);
        _gzip.Dispose();
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _gzip.Dispose();
        Element.Dispose();
    }

    private void WriteName(ReadOnlySpan<byte> name)
    {
        _gzip.Write(_isFirstMember ? "\""u8 : ",\""u8);
        _gzip.Write(name);
        _gzip.Write("\":"u8);
        _isFirstMember = false;
    }

    private sealed class Sink(IBufferWriter<byte> output) : Stream
    {
        public override bool CanRead => false;

        public override bool CanSeek => false;

        public override bool CanWrite => true;

        public override long Length => throw new NotSupportedException();

        public override long Position
        {
            get => throw new NotSupportedException();
            set => throw new NotSupportedException();
        }

        public override void Write(ReadOnlySpan<byte> buffer) => output.Write(buffer);

        public override void Write(byte[] buffer, int offset, int count) => output.Write(buffer.AsSpan(offset, count));

        public override void Flush() { }

        public override int Read(byte[] buffer, int offset, int count) => throw new NotSupportedException();

        public override long Seek(long offset, SeekOrigin origin) => throw new NotSupportedException();

        public override void SetLength(long value) => throw new NotSupportedException();
    }
}
