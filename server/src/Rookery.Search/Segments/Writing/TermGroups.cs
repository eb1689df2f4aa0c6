namespace Rookery.Search.Segments.Writing;

/// <summary>
/// The term numbers of a batch, grouped by field in two passes over the terms. Document ids are left out.
/// </summary>
internal sealed class TermGroups
{
    // The numbers of field n are _numbers[_starts[n].._starts[n + 1]].
    private readonly int[] _starts;
    private readonly int[] _numbers;

    /// <summary>Groups all terms.</summary>
    /// <param name="terms">The terms of the batch.</param>
    /// <param name="fields">A number above that of each field.</param>
    public TermGroups(TermTable terms, int fields)
    {
        _starts = new int[fields + 1];
        for (int number = 0; number < terms.Count; number++)
        {
            if (terms[number].Field >= 0)
            {
                _starts[terms[number].Field + 1]++;
            }
        }

        for (int field = 0; field < fields; field++)
        {
            _starts[field + 1] += _starts[field];
        }

        _numbers = new int[_starts[fields]];
        int[] next = _starts.AsSpan(0, fields).ToArray();
        for (int number = 0; number < terms.Count; number++)
        {
            if (terms[number].Field >= 0)
            {
                _numbers[next[terms[number].Field]++] = number;
            }
        }
    }

    /// <summary>Returns the numbers of a field's terms, in ascending order.</summary>
    public ReadOnlySpan<int> Of(int field) => _numbers.AsSpan(_starts[field].._starts[field + 1]);
}
