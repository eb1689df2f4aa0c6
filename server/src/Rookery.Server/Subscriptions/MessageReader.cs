using System.Buffers;
using System.IO.Pipelines;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// Reads the JSON objects that a client of the TCP protocol sends one after another, perhaps with blanks between them.
/// </summary>
/// <param name="input">The bytes of the connection.</param>
internal sealed class MessageReader(PipeReader input)
{
    /// <summary>Longest object, in bytes.</summary>
    public const int MaxBytes = 16 << 10;

    // What is known of the object at the beginning of the buffer.
    private int _scanned;
    private int _depth;
    private bool _isText;
    private bool _isEscaped;

    /// <summary>Reads the next object.</summary>
    /// <returns>Null at the end of the connection.</returns>
    /// <exception cref="InvalidDataException">The bytes are no object, or it is too long.</exception>
    public async ValueTask<byte[]?> ReadAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            var read = await input.ReadAsync(cancellationToken);
            var buffer = read.Buffer;
            if (TryTake(ref buffer, out byte[]? message))
            {
                input.AdvanceTo(buffer.Start);
                return message;
            }

            if (buffer.Length > MaxBytes)
            {
                throw new InvalidDataException($"A message has more than {MaxBytes} bytes.");
            }

            input.AdvanceTo(buffer.Start, buffer.End);
            if (read.IsCompleted || read.IsCanceled)
            {
                return null;
            }
        }
    }

    // Takes a whole object from the beginning of a buffer. Scans each byte once, however the bytes arrive.
    private bool TryTake(ref ReadOnlySequence<byte> buffer, out byte[]? message)
    {
        message = null;
        if (_scanned == 0)
        {
            var blanks = new SequenceReader<byte>(buffer);
            blanks.AdvancePastAny((byte)' ', (byte)'\r', (byte)'\n', (byte)'\t');
            buffer = buffer.Slice(blanks.Position);
        }

        var reader = new SequenceReader<byte>(buffer.Slice(_scanned));
        while (_scanned <= MaxBytes && reader.TryRead(out byte next))
        {
            _scanned++;
            if (_isText)
            {
                _isText = _isEscaped || next != (byte)'"';
                _isEscaped = !_isEscaped && next == (byte)'\\';
                continue;
            }

            _isText = next == (byte)'"';
            _depth += next is (byte)'{' ? 1 : 0;
            _depth -= next is (byte)'}' ? 1 : 0;
            if (_depth == 0)
            {
                if (next != (byte)'}')
                {
                    throw new InvalidDataException("A message must be a JSON object.");
                }

                message = buffer.Slice(0, _scanned).ToArray();
                buffer = buffer.Slice(_scanned);
                _scanned = 0;
                return true;
            }
        }

        return false;
    }
}
