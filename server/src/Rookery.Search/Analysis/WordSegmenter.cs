using System.Text;

namespace Rookery.Search.Analysis;

/// <summary>
/// Finds the words of a text by the default boundaries of UAX #29. Letters, digits and connectors form words. An
/// apostrophe or a dot may be within a word, a comma or a dot within a number. Marks belong to their letter. Each Han
/// or Hiragana character is a word, and so is a picture or a flag. Unlike in the annex, a colon is always a boundary.
/// Text without letters, digits and pictures is skipped.
/// </summary>
internal static class WordSegmenter
{
    /// <summary>
    /// The kind of the characters read so far. In the states from <see cref="LetterMid"/> on, the last character
    /// belongs to the word only if more of the word follows.
    /// </summary>
    private enum State : byte
    {
        End,
        Start,
        Letters,
        Digits,
        Katakana,

        // Letters or digits, followed by a connector.
        Connected,
        Ideograph,
        Picture,

        // One of the two characters of a flag.
        HalfFlag,
        Flag,

        // A character that belongs to the word only if a letter follows.
        LetterMid,

        // A character that belongs to the number only if a digit follows.
        DigitMid,

        // Only connectors so far.
        ConnectorLead,

        // A picture and a joiner.
        PictureJoined,
    }

    // The transition table: one row for each state and one column for each class, in the order of the enumerations.
    private static readonly State[] Next = MakeTable();

    /// <summary>Finds the first word at or after <paramref name="at"/>.</summary>
    /// <param name="text">The text in UTF-8.</param>
    /// <param name="at">The position to start from; on return the end of the word, where the next search
    /// starts.</param>
    /// <param name="start">The start of the word.</param>
    /// <returns>Whether there is a word.</returns>
    internal static bool TryFind(ReadOnlySpan<byte> text, ref int at, out int start)
    {
        start = at;
        int scan = at;
        int end = -1;
        var state = State.Start;
        while (scan < text.Length)
        {
            var next = Next[((int)state * CharacterClasses.Count) + (int)Read(text, scan, out int bytes)];
            if (next is State.End)
            {
                if (end >= 0)
                {
                    break;
                }

                // Only connectors were read, which do not form a word. The character after them is read again as the
                // start of a word.
                bytes = state is State.ConnectorLead ? 0 : bytes;
                next = State.Start;
            }

            if (state is State.Start)
            {
                start = scan;
            }

            scan += bytes;
            state = next;
            if (state is > State.Start and < State.LetterMid)
            {
                end = scan;
            }
        }

        at = end >= 0 ? end : text.Length;
        return end >= 0;
    }

    private static CharacterClass Read(ReadOnlySpan<byte> text, int at, out int bytes)
    {
        byte first = text[at];
        if (first < 0x80)
        {
            bytes = 1;
            return CharacterClasses.OfAscii(first);
        }

        Rune.DecodeFromUtf8(text[at..], out var rune, out bytes);
        return CharacterClasses.Of(rune.Value);
    }

    private static State[] MakeTable()
    {
        var table = new State[((int)State.PictureJoined + 1) * CharacterClasses.Count];
        foreach (var state in Enum.GetValues<State>())
        {
            foreach (var read in Enum.GetValues<CharacterClass>())
            {
                table[((int)state * CharacterClasses.Count) + (int)read] = Follow(state, read);
            }
        }

        return table;
    }

    private static State Follow(State state, CharacterClass read) =>
        (state, read) switch
        {
            (State.End, _) => State.End,
            // Marks without a letter before them are skipped; elsewhere they do not change the state (WB4).
            (State.Start, CharacterClass.Extend or CharacterClass.Joiner) => State.End,
            (State.Picture, CharacterClass.Joiner) => State.PictureJoined,
            (_, CharacterClass.Extend or CharacterClass.Joiner) => state,

            (
                State.Start
                    or State.Letters
                    or State.Digits
                    or State.Connected
                    or State.LetterMid
                    or State.ConnectorLead,
                CharacterClass.Letter
            ) => State.Letters,
            (
                State.Start
                    or State.Letters
                    or State.Digits
                    or State.Connected
                    or State.DigitMid
                    or State.ConnectorLead,
                CharacterClass.Digit
            ) => State.Digits,
            (State.Start or State.Katakana or State.Connected or State.ConnectorLead, CharacterClass.Katakana) =>
                State.Katakana,
            (State.Letters, CharacterClass.MidLetter or CharacterClass.MidBoth) => State.LetterMid,
            (State.Digits, CharacterClass.MidNumber or CharacterClass.MidBoth) => State.DigitMid,
            (State.Letters or State.Digits or State.Katakana or State.Connected, CharacterClass.Connector) =>
                State.Connected,
            (State.Start or State.ConnectorLead, CharacterClass.Connector) => State.ConnectorLead,

            (State.Start, CharacterClass.Ideograph) => State.Ideograph,
            (State.Start or State.PictureJoined, CharacterClass.Picture) => State.Picture,
            (State.Start, CharacterClass.FlagLetter) => State.HalfFlag,
            (State.HalfFlag, CharacterClass.FlagLetter) => State.Flag,
            _ => State.End,
        };
}
