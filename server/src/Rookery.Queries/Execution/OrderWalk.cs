using Rookery.Search.Segments.Postings;

namespace Rookery.Queries.Execution;

/// <summary>
/// Says when the first of many matches in an order are found by walking over the terms of the order, asking of each
/// entry whether it is a match, instead of looking at all matches. Which way is taken changes nothing but the time.
/// </summary>
internal abstract class OrderWalk
{
    /// <summary>As costs say.</summary>
    public static OrderWalk WhereItPays { get; } = new ByCost();

    /// <summary>Whether walking is likely to be less work.</summary>
    /// <param name="wanted">How many matches are wanted.</param>
    /// <param name="entries">Entries of the segment.</param>
    /// <param name="candidates">The matches.</param>
    public abstract bool Pays(long wanted, int entries, EntryCursor candidates);

    /// <summary>After so many entries a walk that has not found all gives up.</summary>
    /// <param name="candidates">The matches.</param>
    public abstract long MostSteps(EntryCursor candidates);

    /// <summary>Told of a walk that found all that is wanted.</summary>
    /// <param name="dead">Entries of the segment that are dead.</param>
    public virtual void Ended(int dead) { }

    private sealed class ByCost : OrderWalk
    {
        // A step of the walk reads a term and opens its postings: about as much as looking at so many matches.
        private const int MatchesPerStep = 3;

        // How many matches there are is known roughly where a column tells them: some entries are asked.
        private const int Asked = 64;

        // One of so many entries is met where matches lie evenly; they need not.
        private const long FewerSteps = 2;

        public override bool Pays(long wanted, int entries, EntryCursor candidates)
        {
            long matches = candidates.Cost;
            if (!IsFew(wanted, entries, matches))
            {
                return false;
            }

            return !candidates.CanTell || IsFew(wanted, entries, Math.Min(matches, Estimate(entries, candidates)));
        }

        public override long MostSteps(EntryCursor candidates) => candidates.Cost / MatchesPerStep;

        /// <summary>Whether the steps until the page is full are few beside the matches.</summary>
        private static bool IsFew(long wanted, long entries, long matches) =>
            matches > 0 && wanted * entries / matches * MatchesPerStep * FewerSteps <= matches;

        private static long Estimate(int entries, EntryCursor candidates)
        {
            int found = 1;
            for (int i = 0; i < Asked; i++)
            {
                found += candidates.Has((int)((long)entries * i / Asked)) ? 1 : 0;
            }

            return (long)entries * found / Asked;
        }
    }
}
