using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// Decides how a sorted page is found: from the matches of a term, kept in order
/// (<see cref="Search.Segments.Reading.SortedEntries"/>); by walking the sort field's terms in order and testing
/// whether each entry matches; or by reading all matches. All give the same result; only the time differs.
/// </summary>
internal abstract class OrderWalk
{
    /// <summary>Decides by cost.</summary>
    public static OrderWalk Default { get; } = new ByCost();

    /// <summary>Returns whether walking the terms is probably less work than reading all matches.</summary>
    /// <param name="wanted">Number of matches wanted.</param>
    /// <param name="entries">Number of entries of the segment.</param>
    /// <param name="candidates">The matches.</param>
    public abstract bool IsWorthwhile(long wanted, int entries, EntryCursor candidates);

    /// <summary>Returns the number of entries after which an unfinished walk gives up.</summary>
    /// <param name="candidates">The matches.</param>
    public abstract long MaxSteps(EntryCursor candidates);

    /// <summary>Returns whether the matches of a term are worth keeping in order.</summary>
    /// <param name="matches">Number of matches, including dead entries.</param>
    public virtual bool IsWorthSorting(long matches) => false;

    /// <summary>Called when a page was found from matches that are kept in order.</summary>
    public virtual void OnSortedFound() { }

    /// <summary>Called when a walk has found all wanted matches.</summary>
    /// <param name="dead">Number of dead entries of the segment.</param>
    public virtual void OnPageFound(int dead) { }

    private sealed class ByCost : OrderWalk
    {
        // Fewer matches are read as fast as they are found in order.
        private const int MinSorted = 64;

        // Sorting more entries delays the query that sorts them. A lower limit leaves more pages to the walk, which
        // costs more: with 8,192, pages of countries took 59 µs of processor time instead of 48.
        private const int MaxSorted = 32 * 1024;

        // A step of the walk reads a term and opens its postings, which costs about as much as reading this many
        // matches.
        private const int MatchesPerStep = 3;

        // Number of entries sampled to estimate the matches, if a column decides which entries match.
        private const int SampledEntries = 64;

        // The walk must be cheaper by this factor, because matches may not be spread evenly over the terms.
        private const long SafetyFactor = 2;

        public override bool IsWorthwhile(long wanted, int entries, EntryCursor candidates)
        {
            long matches = candidates.Cost;
            if (!IsFew(wanted, entries, matches))
            {
                return false;
            }

            return !candidates.CanTest || IsFew(wanted, entries, Math.Min(matches, Estimate(entries, candidates)));
        }

        public override bool IsWorthSorting(long matches) => matches is >= MinSorted and <= MaxSorted;

        public override long MaxSteps(EntryCursor candidates) => candidates.Cost / MatchesPerStep;

        /// <summary>
        /// Returns whether filling the page takes few steps, compared with reading all matches. If the matches are
        /// spread evenly, the walk passes wanted * entries / matches entries.
        /// </summary>
        private static bool IsFew(long wanted, long entries, long matches) =>
            matches > 0 && wanted * entries / matches * MatchesPerStep * SafetyFactor <= matches;

        private static long Estimate(int entries, EntryCursor candidates)
        {
            int matchingSamples = 1; // so that the estimate is never 0
            for (int i = 0; i < SampledEntries; i++)
            {
                if (candidates.Contains((int)((long)entries * i / SampledEntries)))
                {
                    matchingSamples++;
                }
            }

            return (long)entries * matchingSamples / SampledEntries;
        }
    }
}
