using System.Text;
using Rookery.Terminal;

namespace Rookery.Shell;

/// <summary>What a key of the line editor does.</summary>
internal enum EditKey
{
    None,
    Text,
    Enter,
    Complete,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Up,
    Down,
    RemoveBefore,
    RemoveAfter,
    CutWordBefore,
    CutWordAfter,
    CutToLineStart,
    CutToLineEnd,
    InsertRemoved,
    Search,
    ClearScreen,
    Abandon,
    End,
    Suspend,
    Escape,
}

/// <summary>Reads keys of a terminal: characters, pasted texts, and the sequences that other keys send.</summary>
/// <param name="read">Waits for bytes, and returns their number; 0 at the end.</param>
internal sealed class KeyReader(KeyReader.ReadBytes read)
{
    private const byte EscapeByte = 0x1B;
    private const string PasteEnd = "\u001b[201~";
    private static readonly Rune Replacement = Rune.ReplacementChar;

    private readonly byte[] _bytes = new byte[1024];
    private int _position;
    private int _count;
    private string _sequence = string.Empty;

    /// <summary>Waits for bytes, and returns their number; 0 at the end.</summary>
    public delegate int ReadBytes(Span<byte> bytes);

    /// <summary>Creates a reader of stdin.</summary>
    public static KeyReader OfTerminal() => new(TerminalSettings.Read);

    /// <summary>Waits for a key.</summary>
    /// <returns>The key, and the typed or pasted text. A closed terminal counts as the end.</returns>
    public (EditKey Key, string Text) Read() =>
        TakeByte() switch
        {
            null => (EditKey.End, string.Empty),
            EscapeByte => ReadSequence(),
            >= (byte)' ' and not 0x7F and var first => (EditKey.Text, ReadRune(first).ToString()),
            var control => (ControlKey(control.Value), string.Empty),
        };

    private static EditKey ControlKey(byte control) =>
        control switch
        {
            0x01 => EditKey.LineStart, // Ctrl+A, and so on
            0x02 => EditKey.Left,
            0x03 => EditKey.Abandon,
            0x04 => EditKey.End,
            0x05 => EditKey.LineEnd,
            0x06 => EditKey.Right,
            0x07 => EditKey.Escape,
            0x08 or 0x7F => EditKey.RemoveBefore,
            (byte)'\t' => EditKey.Complete,
            (byte)'\n' or (byte)'\r' => EditKey.Enter,
            0x0B => EditKey.CutToLineEnd,
            0x0C => EditKey.ClearScreen,
            0x0E => EditKey.Down,
            0x10 => EditKey.Up,
            0x12 => EditKey.Search,
            0x15 => EditKey.CutToLineStart,
            0x17 => EditKey.CutWordBefore,
            0x19 => EditKey.InsertRemoved,
            0x1A => EditKey.Suspend,
            _ => EditKey.None,
        };

    // ESC and a letter is the letter with Alt. ESC [ parameters letter, and ESC O letter, are other keys.
    private (EditKey Key, string Text) ReadSequence()
    {
        switch (TakeByte())
        {
            case (byte)'[':
                return ReadParameters() is "200~" ? (EditKey.Text, ReadPasted()) : (KeyOfSequence, string.Empty);
            case (byte)'O':
                _sequence = $"{(char)(TakeByte() ?? 0)}";
                return (KeyOfSequence, string.Empty);
            case (byte)'b':
                return (EditKey.WordLeft, string.Empty);
            case (byte)'f':
                return (EditKey.WordRight, string.Empty);
            case (byte)'d':
                return (EditKey.CutWordAfter, string.Empty);
            case 0x7F or 0x08:
                return (EditKey.CutWordBefore, string.Empty);
            case null:
                return (EditKey.End, string.Empty);
            default:
                return (EditKey.Escape, string.Empty);
        }
    }

    private EditKey KeyOfSequence =>
        _sequence switch
        {
            "A" => EditKey.Up,
            "B" => EditKey.Down,
            "C" => EditKey.Right,
            "D" => EditKey.Left,
            "H" or "1~" or "7~" => EditKey.LineStart,
            "F" or "4~" or "8~" => EditKey.LineEnd,
            "3~" => EditKey.RemoveAfter,
            "1;5C" or "1;3C" => EditKey.WordRight,
            "1;5D" or "1;3D" => EditKey.WordLeft,
            "3;5~" => EditKey.CutWordAfter,
            _ => EditKey.None,
        };

    private string ReadParameters()
    {
        const int LongestSequence = 32;
        var sequence = new StringBuilder();
        while (sequence.Length < LongestSequence && TakeByte() is { } next)
        {
            sequence.Append((char)next);
            if (next is >= 0x40 and <= 0x7E)
            {
                break;
            }
        }

        return _sequence = sequence.ToString();
    }

    /// <summary>Reads a pasted text up to its end mark. Drops what exceeds the longest text.</summary>
    private string ReadPasted()
    {
        var pasted = new StringBuilder();
        while (TakeByte() is { } next)
        {
            if (next == EscapeByte && TakePasteEnd())
            {
                break;
            }

            if (pasted.Length <= EditedText.MaxCharacters)
            {
                pasted.Append(next == '\r' ? "\n" : ReadRune(next).ToString());
            }
        }

        return pasted.ToString();
    }

    // Takes the rest of a sequence, and returns whether it ends the paste. An escape may precede the end mark.
    private bool TakePasteEnd()
    {
        int taken = 1;
        while (taken < PasteEnd.Length && TakeByte() is { } next)
        {
            if (next != PasteEnd[taken] && next != EscapeByte)
            {
                return false;
            }

            taken = next == EscapeByte ? 1 : taken + 1;
        }

        return true;
    }

    private Rune ReadRune(byte first)
    {
        Span<byte> utf8 = stackalloc byte[4];
        utf8[0] = first;
        int length = first switch
        {
            >= 0xC0 and < 0xE0 => 2,
            >= 0xE0 and < 0xF0 => 3,
            >= 0xF0 and < 0xF8 => 4,
            _ => 1,
        };
        for (int position = 1; position < length; position++)
        {
            if (TakeByte() is not { } next)
            {
                return Replacement;
            }

            const int ContinuationMask = 0xC0;
            const int Continuation = 0x80;
            if ((next & ContinuationMask) != Continuation)
            {
                // The character is not UTF-8. The byte after it is the next key, which may be Enter or Ctrl+C.
                _position--;
                return Replacement;
            }

            utf8[position] = next;
        }

        Rune.DecodeFromUtf8(utf8[..length], out var letter, out _);
        return letter;
    }

    private byte? TakeByte()
    {
        if (_position == _count)
        {
            (_position, _count) = (0, read(_bytes));
        }

        return _position < _count ? _bytes[_position++] : null;
    }
}
