using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;

namespace Rookery.Server.Dashboard;

/// <summary>
/// Browser sessions of this node. A session is a random secret that stands for a token; each request checks the token's
/// rights. Sessions exist only in the memory of this node, which keeps hashes of the secrets and the tokens.
/// Thread-safe.
/// </summary>
internal sealed class Sessions(TimeProvider time)
{
    /// <summary>Maximum number of sessions. A further one ends the least recently used session.</summary>
    public const int MaxSessions = 256;

    /// <summary>
    /// Maximum number of sessions of one token, so that one token cannot end the sessions of other tokens.
    /// </summary>
    public const int MaximumPerToken = 32;

    /// <summary>A session ends after this time without use.</summary>
    public static readonly TimeSpan Idle = TimeSpan.FromHours(12);

    /// <summary>Longest lifetime of a session.</summary>
    public static readonly TimeSpan MaxLifetime = TimeSpan.FromDays(30);

    private const int RandomBytes = 32;

    private readonly Lock _gate = new();
    private readonly Dictionary<Key, Session> _sessions = [];

    /// <summary>Begins a session for a token.</summary>
    /// <returns>The secret for the browser's cookie.</returns>
    public string Begin(ReadOnlySpan<byte> tokenHash)
    {
        string secret = Base64Url.EncodeToString(RandomNumberGenerator.GetBytes(RandomBytes));
        Key.TryHash(secret, out var key);
        long now = time.GetTimestamp();
        lock (_gate)
        {
            MakeRoomFor(tokenHash);
            if (_sessions.Count >= MaxSessions)
            {
                DropEnded(now);
            }

            if (_sessions.Count >= MaxSessions)
            {
                _sessions.Remove(_sessions.MinBy(static known => known.Value.UsedAt).Key);
            }

            _sessions.Add(key, new Session(tokenHash.ToArray(), now) { UsedAt = now });
        }

        return secret;
    }

    /// <summary>Looks up a session and records the time as its last use.</summary>
    /// <param name="secret">The secret in the browser's cookie.</param>
    /// <param name="tokenHash">Hash of the session's token.</param>
    /// <returns>False if there is no such session, or it has ended.</returns>
    public bool TryUse(string secret, [NotNullWhen(true)] out byte[]? tokenHash)
    {
        tokenHash = null;
        if (!Key.TryHash(secret, out var key))
        {
            return false;
        }

        long now = time.GetTimestamp();
        lock (_gate)
        {
            if (!_sessions.TryGetValue(key, out var session))
            {
                return false;
            }

            if (HasEnded(session, now))
            {
                _sessions.Remove(key);
                return false;
            }

            session.UsedAt = now;
            tokenHash = session.TokenHash;
            return true;
        }
    }

    /// <summary>Ends a session.</summary>
    public void End(string secret)
    {
        if (Key.TryHash(secret, out var key))
        {
            lock (_gate)
            {
                _sessions.Remove(key);
            }
        }
    }

    /// <summary>Ends the least recently used session of a token that has <see cref="MaximumPerToken"/>.</summary>
    private void MakeRoomFor(ReadOnlySpan<byte> tokenHash)
    {
        int count = 0;
        Key oldest = default;
        long used = long.MaxValue;
        foreach (var (key, session) in _sessions)
        {
            if (!tokenHash.SequenceEqual(session.TokenHash))
            {
                continue;
            }

            count++;
            if (session.UsedAt < used)
            {
                (oldest, used) = (key, session.UsedAt);
            }
        }

        if (count >= MaximumPerToken)
        {
            _sessions.Remove(oldest);
        }
    }

    private void DropEnded(long now)
    {
        foreach (var (key, session) in _sessions)
        {
            if (HasEnded(session, now))
            {
                _sessions.Remove(key);
            }
        }
    }

    private bool HasEnded(Session session, long now) =>
        time.GetElapsedTime(session.UsedAt, now) >= Idle || time.GetElapsedTime(session.BegunAt, now) >= MaxLifetime;

    // Its times are timestamps of the clock.
    private sealed class Session(byte[] tokenHash, long begunAt)
    {
        public byte[] TokenHash => tokenHash;

        public long BegunAt => begunAt;

        public long UsedAt { get; set; }
    }

    /// <summary>
    /// The SHA-256 of a secret. Looking up the hash instead of the secret keeps the duration of a failed lookup from
    /// revealing existing secrets.
    /// </summary>
    private readonly record struct Key(long First, long Second, long Third, long Fourth)
    {
        public static bool TryHash(string secret, out Key key)
        {
            key = default;
            if (secret.Length != Base64Url.GetEncodedLength(RandomBytes) || !Ascii.IsValid(secret))
            {
                return false;
            }

            Span<byte> text = stackalloc byte[secret.Length];
            Ascii.FromUtf16(secret, text, out _);
            Span<long> hash = stackalloc long[SHA256.HashSizeInBytes / sizeof(long)];
            SHA256.HashData(text, MemoryMarshal.AsBytes(hash));
            key = new Key(hash[0], hash[1], hash[2], hash[3]);
            return true;
        }
    }
}
