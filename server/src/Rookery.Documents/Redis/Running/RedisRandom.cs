namespace Rookery.Documents.Redis.Running;

/// <summary>
/// Pseudo-random numbers (SplitMix64, Steele et al. 2014) from a seed that all members have: the log must not depend on
/// a member.
/// </summary>
/// <param name="seed">The seed.</param>
internal struct RedisRandom(long seed)
{
    private ulong _state = (ulong)seed;

    /// <summary>Returns a number from 0 to below a bound.</summary>
    public long Next(long bound)
    {
        _state += 0x9E3779B97F4A7C15;
        ulong value = _state;
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
        value ^= value >> 31;
        return (long)Math.BigMul(value, (ulong)bound, out _);
    }
}
