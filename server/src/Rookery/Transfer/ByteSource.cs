namespace Rookery.Transfer;

/// <summary>
/// Bytes of a stream behind a window that can be looked into and grows where something larger must be seen at once.
/// </summary>
/// <param name="stream">The stream.</param>
internal sealed class ByteSource(Stream stream)
{
    private const int UsualBytes = 256 << 10;

    /// <summary>The largest thing that is looked at as a whole; far more than a document may have.</summary>
    public const int MostBytes = 64 << 20;

    private byte[] _window = new byte[UsualBytes];
    private int _start;
    private int _end;

    /// <summary>Bytes that were consumed, of the unpacked input.</summary>
    public long Position { get; private set; }

    /// <summary>What is in the window and was not consumed.</summary>
    public ReadOnlyMemory<byte> Window => _window.AsMemory(_start, _end - _start);

    /// <summary>Brings more of the stream into the window.</summary>
    /// <returns>False at its end.</returns>
    /// <exception cref="BadInputException">What is in the window became too large, or the input is damaged.</exception>
    public bool Fill()
    {
        if (_start > 0)
        {
            Window.CopyTo(_window);
            _end -= _start;
            _start = 0;
        }

        if (_end == _window.Length)
        {
            if (_window.Length >= MostBytes)
            {
                throw new BadInputException(
                    $"What stands behind byte {Position} is larger than {MostBytes >> 20} MiB; that is no document."
                );
            }

            Array.Resize(ref _window, 2 * _window.Length);
        }

        try
        {
            int read = stream.Read(_window, _end, _window.Length - _end);
            _end += read;
            return read > 0;
        }
        catch (Exception damaged) when (damaged is InvalidDataException or IOException)
        {
            throw new BadInputException(
                $"The input cannot be read behind byte {Position + Window.Length} of what it holds: "
                    + $"{(damaged is InvalidDataException ? "its compression is damaged or cut off" : damaged.Message)}"
            );
        }
    }

    /// <summary>Lets go of the first bytes of the window.</summary>
    public void Consume(int bytes)
    {
        _start += bytes;
        Position += bytes;
    }

    /// <summary>Goes past bytes that need not be in the window.</summary>
    /// <exception cref="BadInputException">The input ends before.</exception>
    public void Skip(long bytes)
    {
        while (bytes > 0)
        {
            if (Window.IsEmpty && !Fill())
            {
                throw new BadInputException(
                    $"The input ends at byte {Position}, within something that takes {bytes} bytes more."
                );
            }

            int some = (int)Math.Min(bytes, Window.Length);
            Consume(some);
            bytes -= some;
        }
    }
}
