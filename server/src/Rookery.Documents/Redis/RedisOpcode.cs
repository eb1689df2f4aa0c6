namespace Rookery.Documents.Redis;

/// <summary>
/// The data commands of Redis that the log and <see cref="RedisReader"/> carry out. Numbers are part of the journal's
/// format: never change one.
/// </summary>
public enum RedisOpcode : byte
{
    /// <summary>No data command.</summary>
    None = 0,

    /// <summary>APPEND.</summary>
    Append = 1,

    /// <summary>SET.</summary>
    Set = 2,

    /// <summary>GET.</summary>
    Get = 3,

    /// <summary>SETNX.</summary>
    SetIfAbsent = 4,

    /// <summary>SETEX.</summary>
    SetWithSeconds = 5,

    /// <summary>PSETEX.</summary>
    SetWithMilliseconds = 6,

    /// <summary>MGET.</summary>
    GetMany = 7,

    /// <summary>MSET.</summary>
    SetMany = 8,

    /// <summary>MSETNX.</summary>
    SetManyIfAbsent = 9,

    /// <summary>GETSET.</summary>
    GetSet = 10,

    /// <summary>GETDEL.</summary>
    GetDelete = 11,

    /// <summary>GETEX.</summary>
    GetExpire = 12,

    /// <summary>STRLEN.</summary>
    StringLength = 13,

    /// <summary>GETRANGE.</summary>
    GetRange = 14,

    /// <summary>SETRANGE.</summary>
    SetRange = 15,

    /// <summary>INCR.</summary>
    Increment = 16,

    /// <summary>DECR.</summary>
    Decrement = 17,

    /// <summary>INCRBY.</summary>
    IncrementBy = 18,

    /// <summary>DECRBY.</summary>
    DecrementBy = 19,

    /// <summary>INCRBYFLOAT.</summary>
    IncrementByFloat = 20,

    /// <summary>EXISTS.</summary>
    Exists = 40,

    /// <summary>DEL.</summary>
    Delete = 41,

    /// <summary>UNLINK.</summary>
    Unlink = 42,

    /// <summary>TYPE.</summary>
    Type = 43,

    /// <summary>RENAME.</summary>
    Rename = 44,

    /// <summary>RENAMENX.</summary>
    RenameIfAbsent = 45,

    /// <summary>TOUCH.</summary>
    Touch = 46,

    /// <summary>RANDOMKEY.</summary>
    AnyKey = 47,

    /// <summary>EXPIRE.</summary>
    Expire = 48,

    /// <summary>PEXPIRE.</summary>
    ExpireMilliseconds = 49,

    /// <summary>EXPIREAT.</summary>
    ExpireAt = 50,

    /// <summary>PEXPIREAT.</summary>
    ExpireAtMilliseconds = 51,

    /// <summary>TTL.</summary>
    TimeToLive = 52,

    /// <summary>PTTL.</summary>
    TimeToLiveMilliseconds = 53,

    /// <summary>EXPIRETIME.</summary>
    ExpireTime = 54,

    /// <summary>PEXPIRETIME.</summary>
    ExpireTimeMilliseconds = 55,

    /// <summary>PERSIST.</summary>
    Persist = 56,

    /// <summary>OBJECT.</summary>
    Object = 57,

    /// <summary>SCAN.</summary>
    Scan = 58,

    /// <summary>KEYS.</summary>
    Keys = 59,

    /// <summary>DBSIZE.</summary>
    DatabaseSize = 60,

    /// <summary>COPY.</summary>
    Copy = 61,

    /// <summary>HSET.</summary>
    HashSet = 80,

    /// <summary>HSETNX.</summary>
    HashSetIfAbsent = 81,

    /// <summary>HMSET.</summary>
    HashSetMany = 82,

    /// <summary>HGET.</summary>
    HashGet = 83,

    /// <summary>HMGET.</summary>
    HashGetMany = 84,

    /// <summary>HGETALL.</summary>
    HashGetAll = 85,

    /// <summary>HDEL.</summary>
    HashDelete = 86,

    /// <summary>HEXISTS.</summary>
    HashExists = 87,

    /// <summary>HLEN.</summary>
    HashLength = 88,

    /// <summary>HKEYS.</summary>
    HashKeys = 89,

    /// <summary>HVALS.</summary>
    HashValues = 90,

    /// <summary>HSTRLEN.</summary>
    HashStringLength = 91,

    /// <summary>HINCRBY.</summary>
    HashIncrementBy = 92,

    /// <summary>HINCRBYFLOAT.</summary>
    HashIncrementByFloat = 93,

    /// <summary>HSCAN.</summary>
    HashScan = 94,

    /// <summary>HRANDFIELD.</summary>
    HashRandomField = 95,

    /// <summary>SADD.</summary>
    SetAdd = 110,

    /// <summary>SREM.</summary>
    SetRemove = 111,

    /// <summary>SMEMBERS.</summary>
    SetMembers = 112,

    /// <summary>SISMEMBER.</summary>
    SetIsMember = 113,

    /// <summary>SMISMEMBER.</summary>
    SetAreMembers = 114,

    /// <summary>SCARD.</summary>
    SetCount = 115,

    /// <summary>SPOP.</summary>
    SetPop = 116,

    /// <summary>SSCAN.</summary>
    SetScan = 117,

    /// <summary>SMOVE.</summary>
    SetMove = 118,

    /// <summary>SRANDMEMBER.</summary>
    SetRandomMember = 119,

    /// <summary>SUNION.</summary>
    SetUnion = 120,

    /// <summary>SUNIONSTORE.</summary>
    SetUnionStore = 121,

    /// <summary>SINTER.</summary>
    SetIntersect = 122,

    /// <summary>SINTERSTORE.</summary>
    SetIntersectStore = 123,

    /// <summary>SDIFF.</summary>
    SetSubtract = 124,

    /// <summary>SDIFFSTORE.</summary>
    SetSubtractStore = 125,

    /// <summary>LPUSH.</summary>
    ListPushLeft = 130,

    /// <summary>RPUSH.</summary>
    ListPushRight = 131,

    /// <summary>LPUSHX.</summary>
    ListPushLeftIfExists = 132,

    /// <summary>RPUSHX.</summary>
    ListPushRightIfExists = 133,

    /// <summary>LPOP.</summary>
    ListPopLeft = 134,

    /// <summary>RPOP.</summary>
    ListPopRight = 135,

    /// <summary>LLEN.</summary>
    ListLength = 136,

    /// <summary>LRANGE.</summary>
    ListRange = 137,

    /// <summary>LINDEX.</summary>
    ListIndex = 138,

    /// <summary>LREM.</summary>
    ListRemove = 139,

    /// <summary>LTRIM.</summary>
    ListTrim = 140,

    /// <summary>LSET.</summary>
    ListSet = 141,

    /// <summary>BLPOP, without its wait.</summary>
    ListPopLeftOfFirst = 142,

    /// <summary>BRPOP, without its wait.</summary>
    ListPopRightOfFirst = 143,

    /// <summary>LINSERT.</summary>
    ListInsert = 144,

    /// <summary>LPOS.</summary>
    ListPositions = 145,

    /// <summary>LMOVE.</summary>
    ListMove = 146,

    /// <summary>RPOPLPUSH.</summary>
    ListPopRightPushLeft = 147,

    /// <summary>JSON.GET.</summary>
    JsonGet = 160,

    /// <summary>JSON.SET.</summary>
    JsonSet = 161,

    /// <summary>JSON.DEL.</summary>
    JsonDelete = 162,

    /// <summary>JSON.MGET.</summary>
    JsonGetMany = 163,

    /// <summary>JSON.NUMINCRBY.</summary>
    JsonIncrement = 164,

    /// <summary>JSON.TYPE.</summary>
    JsonType = 165,
}
