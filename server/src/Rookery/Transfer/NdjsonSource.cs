namespace Rookery.Transfer;

/// <summary>Reads lines of JSON unchanged; blank lines are skipped. The node validates each.</summary>
/// <param name="bytes">The input.</param>
internal sealed class NdjsonSource(ByteSource bytes) : IRecordSource
{
    private static readonly string TooLong =
        $"The line is larger than {ByteSource.MaxBytes >> 20} MiB, so it is not a document.";

    private long _line;
    private int _taken; // length of the last line, which is consumed when the next one is taken

    public string PlaceName => "line";

    internal static ReadOnlySpan<byte> ByteOrderMark => [0xEF, 0xBB, 0xBF];

    public bool TryRead(out ImportRecord record)
    {
        while (TryTakeLine(out var line, out bool isTooLong))
        {
            _line++;
            if (isTooLong)
            {
                record = new ImportRecord(Json: default, _line, TooLong);
                return true;
            }

            if (_line == 1 && line.Span.StartsWith(ByteOrderMark))
            {
                line = line[ByteOrderMark.Length..];
            }

            if (line.Span.IndexOfAnyExcept(" \t\r"u8) >= 0)
            {
                record = new ImportRecord(line, _line);
                return true;
            }
        }

        record = default;
        return false;
    }

    private bool TryTakeLine(out ReadOnlyMemory<byte> line, out bool isTooLong)
    {
        bytes.Consume(_taken);
        _taken = 0;
        isTooLong = false;
        int searched = 0;
        while (true)
        {
            int newline = bytes.Window.Span[searched..].IndexOf((byte)'\n');
            if (newline >= 0)
            {
                line = bytes.Window[..(searched + newline)];
                _taken = line.Length + 1;
                return true;
            }

            searched = bytes.Window.Length;
            if (searched == ByteSource.MaxBytes)
            {
                SkipLine();
                (line, isTooLong) = (default, true);
                return true;
            }

            if (!bytes.Fill())
            {
                // The last line may lack its newline.
                line = bytes.Window;
                _taken = line.Length;
                return _taken > 0;
            }
        }
    }

    // The window holds the beginning of the line. The lines after it are imported.
    private void SkipLine()
    {
        bool isEnd = false;
        while (!isEnd)
        {
            int newline = bytes.Window.Span.IndexOf((byte)'\n');
            bytes.Consume(newline < 0 ? bytes.Window.Length : newline + 1);
            isEnd = newline >= 0 || !bytes.Fill();
        }
    }
}
