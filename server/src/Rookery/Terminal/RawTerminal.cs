using System.Text;

namespace Rookery.Terminal;

/// <summary>The keys of a live view.</summary>
internal enum Key
{
    Other,
    Quit,
    Pause,
    NextNode,
    PreviousNode,
    Up,
    Down,
    PageUp,
    PageDown,
}

/// <summary>
/// Sets the terminal up for a live view: keys arrive one by one without echo, and the alternate screen is used. The
/// terminal is restored however the process ends, except by SIGKILL.
/// </summary>
internal sealed class RawTerminal : IDisposable
{
    // The alternate screen without a cursor, erased; and back.
    private const string EnterScreen = "\u001b[?1049h\u001b[?25l\u001b[2J";
    private const string LeaveScreen = "\u001b[?25h\u001b[?1049l";

    private readonly TerminalSettings _settings = new();
    private int _isRestored;

    /// <summary>Saves the terminal's settings and sets it up.</summary>
    public RawTerminal()
    {
        AppDomain.CurrentDomain.ProcessExit += OnExit;
        SetUpAgain();
    }

    /// <summary>Draws a whole screen over the previous one, without flicker.</summary>
    public static void Draw(IReadOnlyList<string> lines, int height)
    {
        // Synchronised update: terminals that support it show the frame only when it is complete.
        var frame = new StringBuilder("\u001b[?2026h\u001b[H");
        for (int row = 0; row < height; row++)
        {
            frame.Append(row < lines.Count ? lines[row] : string.Empty).Append("\u001b[0m\u001b[K");
            if (row < height - 1)
            {
                frame.Append("\r\n");
            }
        }

        Write(frame.Append("\u001b[?2026l").ToString());
    }

    /// <summary>Reads keys until stdin ends. Call it on its own thread.</summary>
    public static void ReadKeys(Action<Key> pressed)
    {
        Span<byte> bytes = stackalloc byte[32];
        while (TerminalSettings.Read(bytes) is > 0 and var count)
        {
            ReadOnlySpan<byte> unread = bytes[..count];
            while (!unread.IsEmpty)
            {
                pressed(TakeKey(ref unread));
            }
        }
    }

    /// <summary>
    /// Takes the first key of the bytes read. With fast typing or a slow line, several keys arrive at once.
    /// </summary>
    internal static Key TakeKey(ref ReadOnlySpan<byte> bytes)
    {
        // ESC [ parameters letter, or ESC O letter. ESC alone is the key itself.
        int length = 1;
        if (bytes is [0x1B, (byte)'[' or (byte)'O', ..])
        {
            int letter = bytes[2..].IndexOfAnyInRange((byte)0x40, (byte)0x7E);
            length = letter < 0 ? bytes.Length : letter + 3;
        }

        var key = bytes[..length];
        bytes = bytes[length..];
        return KeyOf(key);
    }

    private static Key KeyOf(ReadOnlySpan<byte> bytes) =>
        bytes switch
        {
            [(byte)'q' or (byte)'Q'] => Key.Quit,
            [(byte)'p' or (byte)'P' or (byte)' '] => Key.Pause,
            [(byte)'\t'] => Key.NextNode,
            [(byte)'k'] => Key.Up,
            [(byte)'j'] => Key.Down,
            [0x1B, (byte)'[' or (byte)'O', (byte)'A'] => Key.Up,
            [0x1B, (byte)'[' or (byte)'O', (byte)'B'] => Key.Down,
            [0x1B, (byte)'[' or (byte)'O', (byte)'C'] => Key.NextNode,
            [0x1B, (byte)'[' or (byte)'O', (byte)'D'] => Key.PreviousNode,
            [0x1B, (byte)'[', (byte)'Z'] => Key.PreviousNode,
            [0x1B, (byte)'[', (byte)'5', (byte)'~'] => Key.PageUp,
            [0x1B, (byte)'[', (byte)'6', (byte)'~'] => Key.PageDown,
            _ => Key.Other,
        };

    /// <summary>Restores the terminal and stops the process, for Ctrl+Z.</summary>
    public void Stop()
    {
        _settings.Restore();
        Write(LeaveScreen);
        TerminalSettings.StopProcess();
    }

    /// <summary>Sets the terminal up again after the stopped process was continued.</summary>
    public void SetUpAgain()
    {
        _settings.ReadEachKey(hasSignals: true);
        Write(EnterScreen);
    }

    public void Dispose()
    {
        if (Interlocked.Exchange(ref _isRestored, 1) == 0)
        {
            AppDomain.CurrentDomain.ProcessExit -= OnExit;
            _settings.Restore();
            Write(LeaveScreen);
        }
    }

    private static void Write(string text)
    {
        try
        {
            Output.Stream.Write(Encoding.UTF8.GetBytes(text));
        }
        catch (IOException)
        {
            // The terminal is gone; SIGHUP ends the view.
        }
    }

    private void OnExit(object? sender, EventArgs e) => Dispose();
}
