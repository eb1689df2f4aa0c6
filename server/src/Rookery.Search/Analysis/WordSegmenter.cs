using System.Text;

namespace Rookery.Search.Analysis;

/// <summary>
/// Finds the words of a text by the default boundaries of UAX #29: letters, digits and connectors run on; an apostrophe
/// or a dot stays within a word, a comma or a dot within a number; marks stay with their letter; Han and Hiragana are a
/// word each character; pictures and flags are words. Unlike the annex a colon is always a boundary. What holds no
/// letter, digit or picture is passed over. Linear in the text, whatever it holds.
/// </summary>
internal static class WordSegmenter
{
    /// <summary>
    /// What was read of a word so far. Those from <see cref="LetterMid"/> on have read something that belongs to the
    /// word only if more follows.
    /// </summary>
    private enum State : byte
    {
        End,
        Start,
        Letters,
        Digits,
        Katakana,
        Connected,
        Ideograph,
        Picture,
        HalfFlag,
        Flag,
        LetterMid,
        DigitMid,
        ConnectorLead,
        PictureJoined,
    }

    // A row a state, a column a class, in the order of the two enumerations.
    private static readonly State[] Next = MakeTable();

    /// <summary>Finds the first word at or after <paramref name="at"/>.</summary>
    /// <param name="text">UTF-8.</param>
    /// <param name="at">Where to begin; where the next search begins, afterwards.</param>
    /// <param name="start">Where the word begins.</param>
    /// <returns>Whether there is one; it ends before <paramref name="at"/>.</returns>
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

                // Only connectors were read, of which no word can begin: the character that ended them is looked at
                // afresh.
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
            // Marks without a letter before them are passed over; elsewhere they change nothing (WB4).
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
