namespace Rookery.Indexing.Scanning;

/// <summary>Texts that a pattern describes in which <c>*</c> stands for any characters and <c>?</c> for one. Takes at most as many steps as pattern and text have bytes, multiplied.</summary>
/// <param name="pattern">The pattern, without case unless it is compared exactly. UTF-8.</param>
internal sealed class WildcardPattern(byte[] pattern) : TextPattern
{
    /// <summary>Bytes a pattern may have.</summary>
    public const int MaxBytes = 512;

    private const int StepsBetweenCounts = 64 * 1024;

    private readonly int plainBytes = pattern.AsSpan().IndexOfAny((byte)'*', (byte)'?') is >= 0 and int first ? first : pattern.Length;

    public override ReadOnlySpan<byte> Prefix => pattern.AsSpan(0, plainBytes);

    public override bool Matches(ReadOnlySpan<byte> text, ScanWork work)
    {
        int at = 0;
        int step = 0;
        int afterStar = -1;
        int retry = 0;
        int steps = 0;
        while (at < text.Length)
        {
            if (++steps == StepsBetweenCounts)
            {
                work.Walk(steps);
                steps = 0;
            }

            if (step < pattern.Length && pattern[step] == (byte)'*')
            {
                (afterStar, retry) = (++step, at);
            }
            else if (step < pattern.Length && pattern[step] == (byte)'?')
            {
                step++;
                at = NextCharacter(text, at);
            }
            else if (step < pattern.Length && pattern[step] == text[at])
            {
                step++;
                at++;
            }
            else if (afterStar >= 0)
            {
                retry = NextCharacter(text, retry);
                (step, at) = (afterStar, retry);
            }
            else
            {
                return false;
            }
        }

        return pattern.AsSpan(step).IndexOfAnyExcept((byte)'*') < 0;
    }

    private static int NextCharacter(ReadOnlySpan<byte> text, int at)
    {
        at++;
        while (at < text.Length && (text[at] & 0xC0) == 0x80)
        {
            at++;
        }

        return at;
    }
}
