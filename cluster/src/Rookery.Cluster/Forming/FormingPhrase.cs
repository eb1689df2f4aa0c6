using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using System.Text;

namespace Rookery.Cluster.Forming;

/// <summary>
/// A key derived from the phrase that all nodes of a cluster to be formed share. Deriving is slow on purpose, because
/// an attacker with one proof can test guesses against it. A proof is bound to the certificates of both ends of a
/// connection, so it cannot be relayed. Immutable.
/// </summary>
public sealed class FormingPhrase
{
    /// <summary>The minimum length of a phrase, in characters.</summary>
    public const int LeastCharacters = 16;

    // About one second on a Raspberry Pi 3.
    private const int Rounds = 600_000;

    // The mark is public. It is short, so that it does not confirm a guess of the phrase.
    private const int MarkBytes = 2;

    private readonly byte[] _key;

    private FormingPhrase(byte[] key) => _key = key;

    /// <summary>
    /// The mark in an announcement by which nodes with the same phrase and cluster name find each other. Nodes with
    /// another phrase may have the same mark by chance.
    /// </summary>
    public string Mark =>
        Convert.ToHexStringLower(HMACSHA256.HashData(_key, "rookery forming 1 mark"u8).AsSpan(0, MarkBytes));

    /// <summary>
    /// Returns why a phrase is refused, in a sentence that does not contain it; null when it is accepted.
    /// </summary>
    public static string? WhyTooShort(string phrase) =>
        phrase.Trim().Length >= LeastCharacters
            ? null
            : $"The phrase to form a cluster with has {phrase.Trim().Length} characters, and must have "
                + $"{LeastCharacters} at least: anyone who knows it becomes a member, and anyone in the network "
                + $"can try guesses. Use four or more words drawn at random.";

    /// <summary>Derives the key. Takes about a second on a small board.</summary>
    /// <param name="phrase">The phrase; surrounding blanks are ignored.</param>
    /// <param name="clusterName">The name of the cluster to form.</param>
    public static FormingPhrase Derive(string phrase, string clusterName) =>
        new(
            Rfc2898DeriveBytes.Pbkdf2(
                phrase.Trim(),
                Encoding.UTF8.GetBytes("rookery forming 1 " + clusterName),
                Rounds,
                HashAlgorithmName.SHA256,
                SHA256.HashSizeInBytes
            )
        );

    /// <summary>Returns one end's proof that it knows the phrase.</summary>
    /// <param name="end">The end that proves it.</param>
    /// <param name="caller">The certificate of the end that connected.</param>
    /// <param name="answerer">The certificate of the end that was connected to.</param>
    internal byte[] Prove(FormingEnd end, X509Certificate caller, X509Certificate answerer) =>
        HMACSHA256.HashData(
            _key,
            (byte[])
                [
                    .. "rookery forming 1 "u8,
                    (byte)end,
                    .. SHA256.HashData(caller.GetRawCertData()),
                    .. SHA256.HashData(answerer.GetRawCertData()),
                ]
        );

    /// <summary>Whether a proof is the one that <see cref="Prove"/> returns.</summary>
    internal bool IsProof(ReadOnlySpan<byte> shown, FormingEnd end, X509Certificate caller, X509Certificate answerer) =>
        CryptographicOperations.FixedTimeEquals(shown, Prove(end, caller, answerer));
}

/// <summary>The ends of a connection. Their proofs differ, so that a proof cannot be reflected.</summary>
internal enum FormingEnd : byte
{
    /// <summary>The end that connected.</summary>
    Caller = 1,

    /// <summary>The end that was connected to.</summary>
    Answerer = 2,
}
