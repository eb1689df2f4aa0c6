using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>
/// Reads newline-delimited documents, which arrive in chunks of any size. For an invalid line, <see cref="Read"/>
/// returns <see cref="StreamRead.Error"/> with its number, and continues after it.
/// </summary>
public sealed class NdjsonReader : IDisposable
{
    private readonly DocumentParser _parser = DocumentParser.Rent();
    private readonly PooledBytes _collected = new();
    private ReadOnlyMemory<byte> _chunk;
    private int _position;
    private bool _isComplete;
    private bool _isTooLong; // whether the current line exceeds the limit
    private bool _isConsumed; // whether the collected line was returned

    /// <summary>Number of the line read last, counted from 1.</summary>
    public long Line { get; private set; }

    /// <summary>Bytes collected of a line that spans chunks; 0 between lines.</summary>
    public int CollectedBytes => _isConsumed ? 0 : _collected.Length;

    private static ReadOnlySpan<byte> ByteOrderMark => [0xEF, 0xBB, 0xBF];

    /// <summary>
    /// Sets the next bytes. They must not change until <see cref="Read"/> returns <see cref="StreamRead.NeedMore"/>.
    /// </summary>
    public void Feed(ReadOnlyMemory<byte> chunk)
    {
        _chunk = chunk;
        _position = 0;
    }

    /// <summary>Marks the end of the input, so that a last line without a newline is read.</summary>
    public void Complete() => _isComplete = true;

    /// <summary>
    /// Reads the next line that is not blank. Returns <see cref="StreamRead.End"/> only after <see cref="Complete"/>.
    /// </summary>
    /// <param name="document">The document, with its id in <see cref="ParsedDocument.MetadataId"/>; valid until the
    /// next call.</param>
    /// <param name="error">Set with <see cref="StreamRead.Error"/>.</param>
    public StreamRead Read(out ParsedDocument document, out InputError error)
    {
        document = default;
        error = default;
        while (TryReadLine(out ReadOnlySpan<byte> line))
        {
            Line++;
            line = Line == 1 && line.StartsWith(ByteOrderMark) ? line[ByteOrderMark.Length..] : line;
            if (_isTooLong)
            {
                _isTooLong = false;
                error = WithLine(
                    new InputError(
                        InputErrorCode.DocumentTooLarge,
                        $"The document is larger than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}",
                        new InputPlace(0),
                        "Split it into several documents"
                    )
                );
                return StreamRead.Error;
            }

            if (line.IndexOfAnyExcept(" \t\r"u8) < 0)
            {
                continue;
            }

            if (_parser.TryParse(line, out document, out error))
            {
                return StreamRead.Item;
            }

            error = WithLine(error);
            return StreamRead.Error;
        }

        return _isComplete ? StreamRead.End : StreamRead.NeedMore;
    }

    /// <summary>Releases the buffers.</summary>
    public void Dispose()
    {
        _parser.Dispose();
        _collected.Release();
        _chunk = default;
    }

    /// <summary>Reads the next line, without its newline.</summary>
    private bool TryReadLine(out ReadOnlySpan<byte> line)
    {
        if (_isConsumed)
        {
            _collected.Clear();
            _isConsumed = false;
        }

        ReadOnlySpan<byte> bytes = _chunk.Span[_position..];
        int newline = bytes.IndexOf((byte)'\n');
        int length = newline < 0 ? bytes.Length : newline;
        _position += newline < 0 ? length : length + 1;
        if (newline >= 0 && _collected.Length == 0 && !_isTooLong)
        {
            line = bytes[..length];
            return true;
        }

        Collect(bytes[..length]);
        line = _collected.Written;
        _isConsumed = newline >= 0 || (_isComplete && (_collected.Length > 0 || _isTooLong));
        return _isConsumed;
    }

    /// <summary>Collects a part of a line; collects nothing of a line that is too long.</summary>
    private void Collect(ReadOnlySpan<byte> bytes)
    {
        _isTooLong |= _collected.Length + bytes.Length > DocumentLimits.MaxDocumentBytes + 1;
        if (_isTooLong)
        {
            _collected.Clear();
        }
        else
        {
            _collected.Append(bytes);
        }
    }

    private InputError WithLine(InputError error) => error with { Where = error.Where with { Line = Line } };
}
