export declare const HAS_NGINX: boolean
export declare const HOW_TO_GET_NGINX: string

export interface NginxServer {
  ports: { clearingHouse: number; reporting: number }
  accessLog(): Promise<string>
  errorLog(): Promise<string>
  start(): Promise<void>
  remove(): Promise<void>
}

export interface Upstreams {
  clearing_house?: readonly number[]
  reporting?: readonly number[]
}

export declare function nginxServer(upstreams: Upstreams): Promise<NginxServer>
