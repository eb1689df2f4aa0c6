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

    /// <summary>Takes a whole object from the beginning of a buffer.</summary>
    private static bool TryTake(ref ReadOnlySequence<byte> buffer, out byte[]? message)
    {
        message = null;
        var reader = new SequenceReader<byte>(buffer);
        reader.AdvancePastAny((byte)' ', (byte)'\r', (byte)'\n', (byte)'\t');
        buffer = buffer.Slice(reader.Position);
        reader = new SequenceReader<byte>(buffer);
        int depth = 0;
        bool isText = false;
        while (reader.Consumed <= MaxBytes && reader.TryRead(out byte next))
        {
            if (isText)
            {
                if (next == (byte)'\\')
                {
                    reader.Advance(Math.Min(1, reader.Remaining));
                }

                isText = next != (byte)'"';
                continue;
            }

            isText = next == (byte)'"';
            depth += next is (byte)'{' ? 1 : 0;
            depth -= next is (byte)'}' ? 1 : 0;
            if (depth == 0)
            {
                if (next != (byte)'}')
                {
                    throw new InvalidDataException("A message must be a JSON object.");
                }

                message = buffer.Slice(0, reader.Consumed).ToArray();
                buffer = buffer.Slice(reader.Consumed);
                return true;
            }
        }

        return false;
    }
}
