using System.Text;

namespace Rookery.Search.Analysis;

/// <summary>A rule that decides which characters belong to words.</summary>
internal interface ICharacterRule
{
    /// <summary>Returns whether an ASCII character belongs to words.</summary>
    bool IncludesAscii(byte character);

    /// <summary>Returns whether a character outside ASCII belongs to words.</summary>
    bool Includes(Rune character);
}

/// <summary>Every character but white space.</summary>
internal readonly struct NotWhiteSpace : ICharacterRule
{
    /// <inheritdoc/>
    public bool IncludesAscii(byte character) => character is > 0x20 or < 9 or > 13 and < 0x1C;

    /// <inheritdoc/>
    public bool Includes(Rune character) => !Rune.IsWhiteSpace(character);
}

/// <summary>Letters and the marks on them.</summary>
internal readonly struct LettersOnly : ICharacterRule
{
    /// <inheritdoc/>
    public bool IncludesAscii(byte character) => char.IsAsciiLetter((char)character);

    /// <inheritdoc/>
    public bool Includes(Rune character) =>
        Rune.IsLetter(character) || CharacterClasses.Of(character.Value) is CharacterClass.Extend;
}

/// <summary>Finds sequences of characters that match a rule.</summary>
internal static class RunSegmenter
{
    /// <summary>Finds the first sequence at or after <paramref name="at"/>.</summary>
    /// <param name="text">The text in UTF-8.</param>
    /// <param name="rule">The rule.</param>
    /// <param name="at">The position to start from; on return the end of the sequence.</param>
    /// <param name="start">The start of the sequence.</param>
    /// <returns>Whether there is a sequence.</returns>
    internal static bool TryFind<TRule>(ReadOnlySpan<byte> text, TRule rule, ref int at, out int start)
        where TRule : struct, ICharacterRule
    {
        start = -1;
        while (at < text.Length)
        {
            int bytes = 1;
            bool belongs;
            if (text[at] < 0x80)
            {
                belongs = rule.IncludesAscii(text[at]);
            }
            else
            {
                Rune.DecodeFromUtf8(text[at..], out var character, out bytes);
                belongs = rule.Includes(character);
            }

            if (belongs && start < 0)
            {
                start = at;
            }
            else if (!belongs && start >= 0)
            {
                return true;
            }

            at += bytes;
        }

        return start >= 0;
    }
}
