using CsCheck;

namespace Rookery.Simulation;

/// <summary>Checks random cases, the same ones in each run.</summary>
public static class RandomCases
{
    /// <summary>
    /// Checks cases until one fails. CsCheck then looks for a smaller failing case, and the exception has that case
    /// with its seed; the environment variable CsCheck_Seed replays it. All cases come from a fixed seed, whereas
    /// CsCheck's Sample would fix only the first one.
    /// </summary>
    public static void CheckEach<T>(this Gen<T> cases, int count, Action<T> check)
    {
        var random = Check.Seed is { } first ? PCG.Parse(first) : new PCG(stream: 1, seed: 1);
        for (int number = 0; number < count; number++)
        {
            string seed = random.ToString();
            try
            {
                check(cases.Generate(random, null, out _));
            }
            catch (Exception)
            {
                cases.Sample(check, seed: seed, time: 10, threads: 1);
                throw;
            }
        }
    }
}
