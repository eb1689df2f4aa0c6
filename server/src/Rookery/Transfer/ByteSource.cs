namespace Rookery.Transfer;

/// <summary>
/// Reads a stream through a window of bytes. The window grows if the caller needs a larger value in one piece.
/// </summary>
/// <param name="stream">The stream.</param>
internal sealed class ByteSource(Stream stream)
{
    private const int InitialBytes = 256 << 10;

    /// <summary>The largest window; far more than a document may have.</summary>
    public const int MaxBytes = 64 << 20;

    private byte[] _window = new byte[InitialBytes];
    private int _start;
    private int _end;

    /// <summary>The number of consumed bytes of the decompressed input.</summary>
    public long Position { get; private set; }

    /// <summary>The bytes in the window that are not consumed yet.</summary>
    public ReadOnlyMemory<byte> Window => _window.AsMemory(_start, _end - _start);

    /// <summary>Reads more of the stream into the window.</summary>
    /// <returns>False at the end of the stream.</returns>
    /// <exception cref="BadInputException">The window would exceed <see cref="MaxBytes"/>, or the input is
    /// damaged.</exception>
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
            if (_window.Length >= MaxBytes)
            {
                throw new BadInputException(
                    $"The value at byte {Position} is larger than {MaxBytes >> 20} MiB, so it is not a document."
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
                $"The decompressed input cannot be read after byte {Position + Window.Length}: "
                    + BadInputException.ReasonOf(damaged)
            );
        }
    }

    /// <summary>Consumes the first bytes of the window.</summary>
    public void Consume(int bytes)
    {
        _start += bytes;
        Position += bytes;
    }
}
