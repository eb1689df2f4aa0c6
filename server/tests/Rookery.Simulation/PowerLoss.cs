namespace Rookery.Simulation;

/// <summary>
/// What a power cut leaves of everything that was not synced, chosen by a seed. Seeds cover independent sectors (torn
/// and reordered), a clean prefix of the operations, only the newest ones, one torn write, a single hole, nothing and
/// everything. The lengths of files and the names are chosen separately.
/// </summary>
internal sealed class PowerLoss
{
    private readonly ulong _seed;
    private readonly Way _dataWay;
    private readonly Way _lengthWay;
    private readonly Way _nameWay;
    private readonly int _cutOperation;

    // 3 if all eight sectors of a page make the same choice, otherwise 0.
    private readonly int _pageShift;
    private readonly double _keepNewest;
    private readonly double _tornPart;

    internal PowerLoss(int operation, long seed)
    {
        Operation = operation;
        _seed = Mix((ulong)seed);
        _dataWay = (Way)(Draw(1) % 8);
        _lengthWay = (Way)(Draw(2) % 5);
        _nameWay = (Way)(Draw(3) % 5);

        // Most cuts are at the last operation or shortly before, where the unsynced ones usually are; the rest reach
        // back evenly by magnitude.
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

    private enum Way
    {
        AnyVersion,
        Nothing,
        Everything,
        UntilCut,
        NewestOrAny,
        OnlyAfterCut,
        TornAtCut,
        HoleAtCut,
    }

    /// <summary>The last operation that returned before power went.</summary>
    internal int Operation { get; }

    /// <summary>
    /// Which version of a sector survives: an index from <paramref name="oldest"/> (-1 is the content before all
    /// versions) to the last of <paramref name="versions"/>.
    /// </summary>
    internal int PickVersion(int file, int sector, ReadOnlySpan<SectorVersion> versions, int oldest)
    {
        int newest = versions.Length - 1;
        ulong noise = Mix(_seed ^ Mix(((ulong)file << 40) ^ (ulong)(sector >> _pageShift)));
        switch (_dataWay)
        {
            case Way.Nothing:
                return oldest;
            case Way.Everything:
                return newest;
            case Way.UntilCut:
                return LastAtOrBefore(versions, oldest, _cutOperation);
            case Way.OnlyAfterCut:
                return versions[newest].Operation >= _cutOperation ? newest : oldest;
            case Way.TornAtCut:
                int pick = LastAtOrBefore(versions, oldest, _cutOperation);
                return
                    pick > oldest
                    && versions[pick].Operation == _cutOperation
                    && versions[pick].PartOfWrite >= _tornPart
                    ? pick - 1
                    : pick;
            case Way.HoleAtCut:
                return newest > oldest && versions[newest].Operation == _cutOperation && Unit(noise) < _keepNewest
                    ? newest - 1
                    : newest;
            case Way.NewestOrAny when Unit(noise) < _keepNewest:
                return newest;
            default:
                return oldest + (int)(Mix(noise) % (ulong)(newest - oldest + 1));
        }
    }

    /// <summary>
    /// Which of <paramref name="candidates"/> + 1 states in order of a file's length survives, 0 being the durable one.
    /// </summary>
    internal int PickLength(int file, int candidates, Func<int, int> operationOf) =>
        PickPrefix(_lengthWay, Mix(_seed ^ Mix(0x1e57_0000_0000UL + (ulong)file)), candidates, operationOf);

    /// <summary>
    /// How many of <paramref name="candidates"/> unsynced changes of names in a directory have happened.
    /// </summary>
    internal int PickNames(int directory, int candidates, Func<int, int> operationOf) =>
        PickPrefix(_nameWay, Mix(_seed ^ Mix(0xd17e_0000_0000UL + (ulong)directory)), candidates, operationOf);

    private int PickPrefix(Way way, ulong noise, int candidates, Func<int, int> operationOf)
    {
        switch (way)
        {
            case Way.Nothing:
                return 0;
            case Way.Everything:
                return candidates;
            case Way.UntilCut:
                int kept = 0;
                while (kept < candidates && operationOf(kept) <= _cutOperation)
                {
                    kept++;
                }

                return kept;
            case Way.NewestOrAny when Unit(noise) < _keepNewest:
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

    private ulong Draw(ulong number) => Mix(_seed + (number * 0x9e37_79b9_7f4a_7c15UL));

    private double Fraction(ulong number) => Unit(Draw(number));

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
