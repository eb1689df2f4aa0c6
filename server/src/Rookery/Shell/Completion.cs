namespace Rookery.Shell;

/// <summary>The texts that can stand at a place of an edited text.</summary>
/// <param name="From">The beginning of the part before the cursor that they replace.</param>
/// <param name="Candidates">The texts.</param>
internal sealed record Completion(int From, IReadOnlyList<string> Candidates)
{
    /// <summary>The beginning that all candidates have, ignoring the case of letters, in whole characters.</summary>
    public string CommonBeginning
    {
        get
        {
            string first = Candidates[0];
            int length = Candidates.Min(other => CommonLength(first, other));
            return first[..length];
        }
    }

    private static int CommonLength(string one, string other)
    {
        int length = 0;
        while (
            length < Math.Min(one.Length, other.Length)
            && char.ToUpperInvariant(one[length]) == char.ToUpperInvariant(other[length])
        )
        {
            length++;
        }

        return length > 0 && char.IsHighSurrogate(one[length - 1]) ? length - 1 : length;
    }
}
