namespace Rookery.Simulation;

/// <summary>
/// Chooses by a seed which unsynced data survive a power cut. A seed selects one pattern for sectors, one for lengths
/// of files and one for names (<see cref="Pattern"/>).
/// </summary>
internal sealed class PowerLoss
{
    private readonly ulong _seed;
    private readonly Pattern _dataPattern;
    private readonly Pattern _lengthPattern;
    private readonly Pattern _namePattern;
    private readonly int _cutOperation; // the cut: the operation at which patterns divide lost and surviving data

    // 3 if all eight sectors of a page make the same choice, otherwise 0.
    private readonly int _pageShift;
    private readonly double _keepNewest; // the probability that NewestOrAny keeps the newest version
    private readonly double _tornPart; // the part of a torn write that survives, from 0 to 1

    internal PowerLoss(int operation, long seed)
    {
        Operation = operation;
        _seed = Mix((ulong)seed);
        const int PatternsOfSequences = (int)Pattern.NewestOrAny + 1; // lengths and names: the first five
        _dataPattern = (Pattern)(Draw(1) % 8);
        _lengthPattern = (Pattern)(Draw(2) % PatternsOfSequences);
        _namePattern = (Pattern)(Draw(3) % PatternsOfSequences);

        // Most cuts are at the last operation or shortly before, because most unsynced operations are there. The
        // distances of the other cuts are distributed evenly by magnitude.
        int operationsBack = (Draw(4) % 4) switch
        {
            0 or 1 => 0,
            2 => (int)(Draw(5) % 8),
            _ => (int)Math.Pow(2, Fraction(6) * Math.Log2(operation + 1)),
        };
        _cutOperation = Math.Max(0, operation - operationsBack);
        _pageShift = Draw(7) % 2 == 0 ? 0 : 3;
        _keepNewest = Fraction(8);
        _tornPart = Fraction(9);
    }

    private enum Pattern
    {
        /// <summary>Each sector keeps any of its versions: writes are torn and reordered.</summary>
        AnyVersion,

        /// <summary>Nothing unsynced survives.</summary>
        Nothing,

        /// <summary>Everything survives.</summary>
        Everything,

        /// <summary>The operations through the cut survive.</summary>
        UntilCut,

        /// <summary>Some sectors keep their newest version, the others any.</summary>
        NewestOrAny,

        /// <summary>Only the operations from the cut on survive.</summary>
        OnlyAfterCut,

        /// <summary>The operations through the cut survive; of the write at the cut only its beginning.</summary>
        TornAtCut,

        /// <summary>Everything survives, except sectors of the write at the cut.</summary>
        HoleAtCut,
    }

    /// <summary>The number of the last operation that returned before the power cut.</summary>
    internal int Operation { get; }

    /// <summary>
    /// Returns the index of the surviving version of a sector: from <paramref name="oldest"/> (-1 for the content
    /// before all versions) to the last of <paramref name="versions"/>.
    /// </summary>
    internal int PickVersion(int file, int sector, ReadOnlySpan<SectorVersion> versions, int oldest)
    {
        int newest = versions.Length - 1;
        ulong noise = Mix(_seed ^ Mix(((ulong)file << 40) ^ (ulong)(sector >> _pageShift)));
        switch (_dataPattern)
        {
            case Pattern.Nothing:
                return oldest;
            case Pattern.Everything:
                return newest;
            case Pattern.UntilCut:
                return LastAtOrBefore(versions, oldest, _cutOperation);
            case Pattern.OnlyAfterCut:
                return versions[newest].Operation >= _cutOperation ? newest : oldest;
            case Pattern.TornAtCut:
                int pick = LastAtOrBefore(versions, oldest, _cutOperation);
                return
                    pick > oldest
                    && versions[pick].Operation == _cutOperation
                    && versions[pick].PartOfWrite >= _tornPart
                    ? pick - 1
                    : pick;
            case Pattern.HoleAtCut:
                return newest > oldest && versions[newest].Operation == _cutOperation && Unit(noise) < _keepNewest
                    ? newest - 1
                    : newest;
            case Pattern.NewestOrAny when Unit(noise) < _keepNewest:
                return newest;
            default:
                return oldest + (int)(Mix(noise) % (ulong)(newest - oldest + 1));
        }
    }

    /// <summary>
    /// Returns how many of <paramref name="candidates"/> unsynced changes of a file's length survive; 0 for none.
    /// </summary>
    internal int PickLength(int file, int candidates, Func<int, int> operationOf) =>
        PickPrefix(_lengthPattern, Mix(_seed ^ Mix(0x1e57_0000_0000UL + (ulong)file)), candidates, operationOf);

    /// <summary>
    /// Returns how many of <paramref name="candidates"/> unsynced changes of names in a directory survive.
    /// </summary>
    internal int PickNames(int directory, int candidates, Func<int, int> operationOf) =>
        PickPrefix(_namePattern, Mix(_seed ^ Mix(0xd17e_0000_0000UL + (ulong)directory)), candidates, operationOf);

    private int PickPrefix(Pattern pattern, ulong noise, int candidates, Func<int, int> operationOf)
    {
        switch (pattern)
        {
            case Pattern.Nothing:
                return 0;
            case Pattern.Everything:
                return candidates;
            case Pattern.UntilCut:
                int kept = 0;
                while (kept < candidates && operationOf(kept) <= _cutOperation)
                {
                    kept++;
                }

                return kept;
            case Pattern.NewestOrAny when Unit(noise) < _keepNewest:
                return candidates;
            default:
                return (int)(Mix(noise) % (ulong)(candidates + 1));
        }
    }

    private static int LastAtOrBefore(ReadOnlySpan<SectorVersion> versions, int oldest, int operation)
    {
        int index = versions.Length - 1;
        while (index > oldest && versions[index].Operation > operation)
        {
            index--;
        }

        return index;
    }

    /// <summary>Returns the random bits of one choice, by its number.</summary>
    private ulong Draw(ulong number) => Mix(_seed + (number * 0x9e37_79b9_7f4a_7c15UL));

    private double Fraction(ulong number) => Unit(Draw(number));

    /// <summary>Returns a number from 0 to 1, exclusive, from the upper 53 bits.</summary>
    private static double Unit(ulong noise) => (noise >> 11) * (1.0 / (1UL << 53));

    /// <summary>SplitMix64's finalizer (Steele, Lea, Flood 2014): a good hash of 64 bits.</summary>
    private static ulong Mix(ulong value)
    {
        value += 0x9e37_79b9_7f4a_7c15UL;
        value = (value ^ (value >> 30)) * 0xbf58_476d_1ce4_e5b9UL;
        value = (value ^ (value >> 27)) * 0x94d0_49bb_1331_11ebUL;
        return value ^ (value >> 31);
    }
}
