using CsCheck;

namespace Rookery.Simulation;

/// <summary>Checks random cases, the same ones in each run.</summary>
public static class RandomCases
{
    /// <summary>
    /// Checks cases until one fails, of which CsCheck then finds a smaller one. The exception has that case and its
    /// seed, and the environment variable CsCheck_Seed starts with it. Sample alone would fix only its first case.
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
