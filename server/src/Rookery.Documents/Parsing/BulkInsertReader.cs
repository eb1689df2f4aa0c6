using System.Text.Unicode;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>What reading a stream came to.</summary>
public enum StreamRead : byte
{
    /// <summary>The bytes fed so far hold no further whole element: feed more.</summary>
    NeedMore = 0,

    /// <summary>An element.</summary>
    Item = 1,

    /// <summary>The array's closing bracket. RavenDB's client never ends the request, so this is the end.</summary>
    End = 2,

    /// <summary>
    /// The stream cannot be read on (bulk insert), or the line was refused and reading goes on behind it (NDJSON).
    /// </summary>
    Error = 3,
}

/// <summary>
/// Reads the body of RavenDB's bulk_insert, fed in arbitrary chunks. Feed, then read until
/// <see cref="StreamRead.NeedMore"/>; chunks are not kept beyond that.
/// </summary>
/// <remarks>
/// An element that lies whole in a chunk is parsed where it lies, in one pass. Only one that a chunk cuts is collected,
/// with its end searched for by <see cref="ElementBoundary"/>, and parsed when it is whole.
/// </remarks>
public sealed class BulkInsertReader : IDisposable
{
    /// <summary>A document and what is written around it.</summary>
    private const int MaxElementBytes = DocumentLimits.MaxDocumentBytes + (16 * 1024);

    private readonly BulkInsertElement _element = new();
    private readonly PooledBytes _collected = new();
    private ReadOnlyMemory<byte> _chunk;
    private int _position;
    private long _chunkOffset;
    private long _elementOffset;
    private ElementBoundary _boundary;
    private State _state = State.BeforeArray;
    private InputError _failure;

    private enum State
    {
        BeforeArray,
        BeforeFirst,
        BeforeElement,
        InElement,
        BehindElement,
        Ended,
        Failed,
    }

    /// <summary>Elements read so far, heartbeats included: the number of the next one.</summary>
    public long ElementCount { get; private set; }

    /// <summary>Bytes of an element that came cut and is not whole yet; 0 between elements.</summary>
    public int CollectedBytes => _state == State.InElement ? _collected.Length : 0;

    /// <summary>
    /// Gives the reader its next bytes; they must stay unchanged until it has answered
    /// <see cref="StreamRead.NeedMore"/>.
    /// </summary>
    public void Feed(ReadOnlyMemory<byte> chunk)
    {
        _chunkOffset += _chunk.Length;
        _chunk = chunk;
        _position = 0;
    }

    /// <summary>Reads the next document; heartbeats are swallowed.</summary>
    /// <param name="id">The id as sent, escapes resolved, valid to store under; valid until the next call.</param>
    /// <param name="document">The document; valid until the next call.</param>
    /// <param name="error">Set with <see cref="StreamRead.Error"/>, and again on every later call.</param>
    public StreamRead Read(out ReadOnlySpan<byte> id, out ParsedDocument document, out InputError error)
    {
        id = default;
        document = default;
        while (true)
        {
            error = _failure;
            if (_state == State.Failed)
            {
                return StreamRead.Error;
            }

            if (_state == State.Ended)
            {
                return StreamRead.End;
            }

            bool stepped = _state switch
            {
                State.InElement => TryCollect(out document),
                State.BeforeElement => TryReadInPlace(out document),
                _ => TryPunctuation(),
            };
            if (!stepped)
            {
                return StreamRead.NeedMore;
            }

            if (_state == State.BehindElement && _element.IsPut && document.IsRead)
            {
                id = _element.Id;
                return StreamRead.Item;
            }
        }
    }

    /// <summary>
    /// Whether only white space follows the closing bracket in what was fed; ask it for each chunk from the one with
    /// the bracket on.
    /// </summary>
    /// <param name="error">What follows, when it is more.</param>
    public bool IsFollowedByNothing(out InputError error)
    {
        bool isMore = TrySkipSpace();
        error = isMore
            ? new InputError(
                InputErrorCode.UnexpectedCharacter,
                "Something follows the closing bracket of the bulk insert",
                new InputPlace(_chunkOffset + _position, Element: ElementCount),
                "End the body there; the documents before it are stored"
            )
            : default;
        return !isMore;
    }

    /// <summary>Says why a stream that ended here, before its closing bracket, is refused.</summary>
    public InputError Truncated() =>
        new(
            InputErrorCode.UnexpectedEnd,
            "The bulk insert ended before the closing bracket of its array",
            new InputPlace(_chunkOffset + _chunk.Length, Element: ElementCount),
            "Documents before this element may be stored; send the rest again"
        );

    /// <summary>Gives the buffers back.</summary>
    public void Dispose()
    {
        _element.Dispose();
        _collected.Release();
        _chunk = default;
    }

    /// <summary>Steps over white space; false when nothing else is left of the chunk.</summary>
    private bool TrySkipSpace()
    {
        int skipped = _chunk.Span[_position..].IndexOfAnyExcept(" \t\r\n"u8);
        _position = skipped < 0 ? _chunk.Length : _position + skipped;
        return skipped >= 0;
    }

    /// <summary>Steps over the punctuation around elements; false when the chunk ends first.</summary>
    private bool TryPunctuation()
    {
        ReadOnlySpan<byte> bytes = _chunk.Span;
        if (!TrySkipSpace())
        {
            return false;
        }

        _elementOffset = _chunkOffset + _position;
        byte next = bytes[_position];
        (State following, int step) = (_state, next) switch
        {
            (State.BeforeArray, (byte)'[') => (State.BeforeFirst, 1),
            (State.BeforeFirst or State.BehindElement, (byte)']') => (State.Ended, 1),
            (State.BeforeFirst, (byte)'{') => (State.BeforeElement, 0),
            (State.BehindElement, (byte)',') => (State.BeforeElement, 1),
            _ => (State.Failed, 0),
        };
        _state = following;
        _position += step;
        if (_state == State.Failed)
        {
            _failure = Place(InputErrors.InJson(InputErrorCode.UnexpectedCharacter, bytes[_position..], 0));
        }

        return true;
    }

    /// <summary>Reads an element where it lies in the chunk; collects it when the chunk cuts it.</summary>
    private bool TryReadInPlace(out ParsedDocument document)
    {
        document = default;
        ReadOnlySpan<byte> bytes = _chunk.Span;
        if (!TrySkipSpace())
        {
            return false;
        }

        _elementOffset = _chunkOffset + _position;
        bytes = bytes[_position..];
        JsonScanner scanner = _element.Scan(bytes);
        if (_element.TryRead(ref scanner, out document))
        {
            _position += scanner.Position;
            Finish(bytes[..scanner.Position], ref document);
            return true;
        }

        if (scanner.Error != InputErrorCode.UnexpectedEnd)
        {
            Fail(_element.Explain(scanner));
            return true;
        }

        document = default;
        _boundary = default;
        _collected.Clear();
        _state = State.InElement;
        return TryCollect(out document);
    }

    /// <summary>Adds the chunk's bytes to an element that was cut, and reads it once it is whole.</summary>
    private bool TryCollect(out ParsedDocument document)
    {
        document = default;
        ReadOnlySpan<byte> bytes = _chunk.Span[_position..];
        bool isWhole = _boundary.TryFind(bytes, out int taken);
        _position += taken;
        if (_collected.Length + taken > MaxElementBytes)
        {
            Fail(
                new InputError(
                    InputErrorCode.DocumentTooLarge,
                    $"The document is larger than {Amount.Bytes(DocumentLimits.MaxDocumentBytes)}",
                    new InputPlace(0),
                    "Split it into several documents"
                )
            );
            return true;
        }

        _collected.Append(bytes[..taken]);
        if (!isWhole)
        {
            return false;
        }

        JsonScanner scanner = _element.Scan(_collected.Written);
        if (!_element.TryRead(ref scanner, out document) || !scanner.TryEnd())
        {
            document = default;
            Fail(_element.Explain(scanner));
            return true;
        }

        Finish(_collected.Written, ref document);
        return true;
    }

    private void Finish(ReadOnlySpan<byte> bytes, ref ParsedDocument document)
    {
        _state = State.BehindElement;
        if (!Utf8.IsValid(bytes))
        {
            document = default;
            Fail(InputErrors.InJson(InputErrorCode.InvalidUtf8, bytes, InputErrors.FirstInvalidUtf8(bytes)));
            return;
        }

        ElementCount++;
    }

    private void Fail(InputError error)
    {
        _state = State.Failed;
        _failure = Place(error);
    }

    /// <summary>Turns a place in the element into one in the stream.</summary>
    private InputError Place(InputError error) =>
        error with
        {
            Where = new InputPlace(_elementOffset + error.Where.ByteOffset, 0, error.Where.Path, ElementCount),
        };
}
